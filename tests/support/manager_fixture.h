// A manager on a fake server and a fake clock.
#ifndef TESTS_SUPPORT_MANAGER_FIXTURE_H_
#define TESTS_SUPPORT_MANAGER_FIXTURE_H_

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "absl/time/time.h"
#include "base/status.h"
#include "kube/runtime/controller.h"
#include "kube/runtime/events.h"
#include "kube/runtime/manager.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"
#include "tests/support/pods.h"

namespace tests {

struct ManagerFixture {
  std::shared_ptr<FakeApiServer> server = std::make_shared<FakeApiServer>();
  FakeClock clock;
  metrics::Registry registry;
  kube::Client client{server, {.name = "fake"}, clock, nullptr};
  kube::RestMapper mapper{client, clock};
  kube::InformerSet informers{client, clock};
  kube::ClusterClient cluster{client, mapper, informers};
  std::unique_ptr<kube::EventSink> events = kube::NewNullEventSink();
  kube::ManagerOptions options{.health_address = "",
                               .metrics_address = "",
                               .leader_elect = false,
                               .lease_namespace = "leases",
                               .lease_name = "the-lease",
                               .identity = "me"};
  std::optional<kube::Manager> manager;
  base::StopSource stop;
  std::thread runner;
  std::atomic<bool> ended = false;
  absl::Status result;

  // A test that moves the clock must not end the wait for the caches, which takes real time.
  ManagerFixture() { options.cache_sync_timeout = absl::InfiniteDuration(); }
  virtual ~ManagerFixture() {
    base::IgnoreError(Finish(), "the test has looked at what matters to it");
  }

  kube::Manager& Make() { return manager.emplace(options, cluster, *events, clock, registry); }
  // Runs the manager on a thread of its own.
  void Start() {
    runner = std::thread([this] {
      result = manager->Run(stop.get_token());
      ended = true;
    });
  }
  // Waits for the end of the run, which something else causes.
  absl::Status Join() {
    if (runner.joinable()) runner.join();
    return result;
  }
  absl::Status Finish() {
    stop.request_stop();
    return Join();
  }
};

}  // namespace tests

#endif  // TESTS_SUPPORT_MANAGER_FIXTURE_H_
