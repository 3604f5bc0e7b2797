// A ClusterClient with everything below it, on a fake API server.
#ifndef TESTS_SUPPORT_CLUSTER_CLIENT_FIXTURE_H_
#define TESTS_SUPPORT_CLUSTER_CLIENT_FIXTURE_H_

#include <memory>

#include "base/stop_token.h"
#include "kube/cache/cluster_client.h"
#include "kube/cache/informer.h"
#include "kube/client/client.h"
#include "kube/discovery/rest_mapper.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"

namespace tests {

struct ClusterClientFixture {
  std::shared_ptr<FakeApiServer> server = std::make_shared<FakeApiServer>();
  FakeClock clock;
  kube::Client client{server, {.name = "fake"}, clock, nullptr};
  kube::RestMapper mapper{client, clock};
  kube::InformerSet informers{client, clock};
  kube::ClusterClient cluster{client, mapper, informers};
  base::StopToken stop;
};

}  // namespace tests

#endif  // TESTS_SUPPORT_CLUSTER_CLIENT_FIXTURE_H_
