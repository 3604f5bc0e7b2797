#include "controllers/cluster/pull_cluster_monitor.h"

#include <catch2/catch.hpp>
#include <string>
#include <thread>

#include "tests/support/members_fixture.h"

namespace {

using tests::Json;
using tests::Parse;

// A monitor on a thread of its own, which is the only one that waits on its clock. Each Tick makes
// it look once.
struct Fixture : tests::MembersFixture {
  tests::FakeClock time;
  kube::Manager idle{options, cluster, *events, time, registry};
  config::ClusterMonitoring cluster_options;
  std::optional<controllers::PullClusterMonitor> monitor;
  std::thread thread;
  base::StopSource stop_monitor;

  Fixture() {
    monitor.emplace(idle, cluster_options);
    Sync({api::Clusters(), api::Leases()});
  }
  ~Fixture() override {
    stop_monitor.request_stop();
    if (thread.joinable()) thread.join();
  }

  void Begin() {
    thread = std::thread([this] {
      base::IgnoreError(monitor->Run(stop_monitor.get_token()), "it only ends when stopped");
    });
    time.AwaitWaiters(1);
  }
  // Advances the clock by one period and waits until the monitor has looked.
  void Tick(int times = 1) {
    for (int i = 0; i < times; ++i) {
      const int64_t before = time.waits();
      time.Advance(cluster_options.monitor_period);
      REQUIRE(tests::Eventually([&] { return time.waits() > before; }));
    }
  }
  void PutCluster(const char* mode, const char* ready) {
    kube::Object cluster = kube::Object::Make(api::Clusters().gvk, {"", "m1"});
    cluster.Set({"spec", "syncMode"}, mode);
    cluster.Set({"metadata", "creationTimestamp"}, kube::FormatTime(time.Now()));
    if (ready != nullptr) {
      cluster.Set(
          {"status", "conditions"},
          json::Value::Array({json::Value::Object({{"type", "Ready"}, {"status", ready}})}));
    }
    PutCached(api::Clusters(), cluster);
  }
  void RenewLease() {
    kube::Object lease = kube::Object::Make(api::Leases().gvk, {api::kClusterNamespace, "m1"});
    lease.Set({"spec", "renewTime"}, kube::FormatMicroTime(time.Now()));
    PutCached(api::Leases(), lease);
  }
  json::Value Ready() const {
    const kube::Object cluster = server->Find(api::Clusters(), {"", "m1"});
    const json::Value* found = kube::FindCondition(cluster.status()["conditions"], "Ready");
    return found == nullptr ? json::Value() : *found;
  }
};

TEST_CASE_METHOD(Fixture,
                 "an agent that has gone silent makes its cluster unknown after the grace") {
  PutCluster("Pull", "True");
  RenewLease();
  Begin();
  Tick(9);  // The first check counts as a sign of life; 40 s have passed since then.
  CHECK(Ready()["status"].AsString() == "True");
  Tick();
  CHECK(Ready()["status"].AsString() == "Unknown");
  CHECK(Ready()["reason"].AsString() == "ClusterStatusUnknown");
  CHECK(Ready()["message"].AsString() ==
        "Cluster status controller stopped posting cluster status.");
  const size_t writes = server->Requests("PATCH").size();
  Tick(20);
  CHECK(server->Requests("PATCH").size() == writes);
}

TEST_CASE_METHOD(Fixture, "a cluster that is being removed becomes unknown, too") {
  PutCluster("Pull", "True");
  kube::Object leaving = server->Find(api::Clusters(), {"", "m1"});
  leaving.AddFinalizer(api::kClusterFinalizer);
  leaving.Set({"metadata", "deletionTimestamp"}, "2024-01-01T00:00:00Z");
  PutCached(api::Clusters(), leaving);
  Begin();
  Tick(10);
  CHECK(Ready()["status"].AsString() == "Unknown");
}

TEST_CASE_METHOD(Fixture, "an agent that renews its lease is alive") {
  PutCluster("Pull", "True");
  Begin();
  for (int i = 0; i < 30; ++i) {
    if (i % 5 == 0) RenewLease();
    Tick();
  }
  CHECK(Ready()["status"].AsString() == "True");
}

TEST_CASE_METHOD(Fixture, "an agent that changes its condition is alive") {
  PutCluster("Pull", "True");
  Begin();
  Tick(8);
  PutCluster("Pull", "False");
  Tick(8);
  CHECK(Ready()["status"].AsString() == "False");
  Tick(2);
  CHECK(Ready()["status"].AsString() == "Unknown");
}

TEST_CASE_METHOD(Fixture,
                 "an agent that never spoke has longer, counted from the cluster's creation") {
  PutCluster("Pull", nullptr);
  Begin();
  Tick(12);
  CHECK(Ready().is_null());
  Tick();
  CHECK(Ready()["status"].AsString() == "Unknown");
  CHECK(Ready()["reason"].AsString() == "ClusterStatusNeverUpdated");
  CHECK(Ready()["message"].AsString() == "Cluster status controller never posted cluster status.");
}

TEST_CASE_METHOD(Fixture, "push clusters are none of its business") {
  PutCluster("Push", GENERATE(as<const char*>(), "True", nullptr));
  Begin();
  Tick(30);
  CHECK(Ready()["status"].AsString() != "Unknown");
  CHECK(server->Requests("PATCH").empty());
}

TEST_CASE_METHOD(Fixture, "a failed write is repeated at the next check") {
  PutCluster("Pull", "True");
  Begin();
  server->FailNext("PATCH", 500, "InternalError");
  Tick(10);
  CHECK(Ready()["status"].AsString() == "True");
  Tick();
  CHECK(Ready()["status"].AsString() == "Unknown");
}

}  // namespace
