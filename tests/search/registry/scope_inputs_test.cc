// The scope follows the registries of the storage and the Clusters of the control plane.
#include "search/registry/scope_inputs.h"

#include <catch2/catch.hpp>
#include <thread>

#include "api/resources.h"
#include "tests/search/registry/feed_fixture.h"
#include "tests/support/fake_transport.h"

namespace search {
namespace {

TEST_CASE("the scope follows feed and informer, and is empty before both are known") {
  RunningFeed running({.retry_pause = absl::Milliseconds(1)});
  running.etcd.Put(Key("r"), Text("r"));
  running.etcd.FailWith(14);
  running.Start();
  const auto server = std::make_shared<tests::FakeApiServer>();
  kube::Client client(server, {.name = "karmada"}, base::RealClock(), nullptr);
  kube::InformerSet informers(client, base::RealClock());
  const kube::Resource clusters{{"cluster.karmada.io", "v1alpha1", "Cluster"}, "clusters", false};
  kube::Object m1 = kube::Object::Make(clusters.gvk, {"", "m1"});
  server->Put(clusters, m1);
  const auto informer = informers.Get(clusters);
  CacheScope scope(
      [](const kube::Gvk& gvk, const base::StopToken&) {
        return kube::Resource{gvk, "pods", true};
      },
      base::RealClock());
  ScopeRunner runner({scope, running.feed, *informer, base::RealClock()});
  base::StopSource stop;
  std::thread thread([&] { CHECK(runner.Run(stop.get_token()).ok()); });
  REQUIRE(tests::Eventually([&] { return informer->HasSynced(); }));
  CHECK_FALSE(scope.HasSynced());

  running.etcd.FailWith(0);
  const kube::Gvr pods{"", "v1", "pods"};
  CHECK(tests::Eventually([&] { return scope.Current()->Find("m1", pods) != nullptr; }));
  running.etcd.Erase(Key("r"));
  CHECK(tests::Eventually([&] { return scope.Current()->clusters.empty(); }));
  running.etcd.Put(Key("s"), Text("s"));
  CHECK(tests::Eventually([&] { return scope.Current()->Find("m1", pods) != nullptr; }));
  server->Erase(clusters, {"", "m1"});
  CHECK(tests::Eventually([&] { return scope.Current()->clusters.empty(); }));
  stop.request_stop();
  thread.join();
}

}  // namespace
}  // namespace search
