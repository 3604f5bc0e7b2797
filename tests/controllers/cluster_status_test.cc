#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "controllers/cluster_status/cluster_status_reconciler.h"
#include "controllers/cluster_status/member_probe.h"
#include "tests/support/members_fixture.h"

namespace {

using tests::Json;

struct Fixture : tests::MembersFixture {
  tests::FakeApiServer& m1 = member("m1");
  controllers::MemberInventory inventory{members};
  std::optional<controllers::ClusterStatusReconciler> reconciler;

  Fixture() {
    controllers::ClusterStatusOptions status_options;
    status_options.collect_resources = false;
    reconciler.emplace(controllers::ClusterStatusDeps{Make(), members, inventory}, status_options);
    Sync({api::Clusters(), api::Secrets()});
    Put([](kube::Object&) {});
  }
  // Returns the cluster m1, joined in push mode and changed by `change`.
  template <class Change>
  void Put(Change change) {
    kube::Object cluster = kube::Object::Make(api::Clusters().gvk, {"", "m1"});
    cluster.AddFinalizer(api::kClusterFinalizer);
    cluster.Set({"spec"},
                Json(R"({"syncMode": "Push", "secretRef": {"namespace": "s", "name": "m1"}})"));
    change(cluster);
    PutCached(api::Clusters(), cluster);
  }
  absl::StatusOr<kube::Action> Reconcile() {
    return reconciler->Reconcile({.key = {"", "m1"}}, {});
  }
  json::Value Condition(const char* type = "Ready") const {
    const kube::Object cluster = server->Find(api::Clusters(), {"", "m1"});
    const json::Value* found = kube::FindCondition(cluster.status()["conditions"], type);
    return found == nullptr ? json::Value() : *found;
  }
  std::string Ready() const {
    return absl::StrCat(Condition()["status"].AsString(), " ", Condition()["reason"].AsString(),
                        ": ", Condition()["message"].AsString());
  }
  double Gauge(const char* name) {
    return registry.GetGauge(name, "", {{"member_cluster", "m1"}}).Value();
  }
};

TEST_CASE_METHOD(Fixture, "a member that answers is ready, and looked at again after the period") {
  const auto action = Reconcile();
  REQUIRE(action.ok());
  CHECK(action->delay() == absl::Seconds(10));
  CHECK(Ready() == "True ClusterReady: cluster is healthy and ready to accept workloads");
  CHECK(m1.Requests("GET").front() == "GET /readyz");
  CHECK(Gauge("cluster_ready_state") == 1);
}

TEST_CASE_METHOD(Fixture, "a member without /readyz is asked for /healthz") {
  m1.FailNext("GET", 404, "NotFound");
  REQUIRE(Reconcile().ok());
  CHECK(Condition()["status"].AsString() == "True");
  CHECK(m1.Requests("GET").at(1) == "GET /healthz");
}

TEST_CASE_METHOD(Fixture, "a member that answers with an error counts as not reachable") {
  const auto [code, cause] = GENERATE(table<int, const char*>(
      {{500, "/readyz was answered with code 500"},
       {401, "the member does not accept the token of secret s/m1 (401 Unauthorized)"},
       {403,
        "the member does not allow the token of secret s/m1 to read /readyz (403 Forbidden)"}}));
  m1.FailNext("GET", code, "Error");
  REQUIRE(Reconcile().ok());
  CHECK(Ready() == "False ClusterNotReachable: cluster is not reachable");
  CHECK(recorded->All() ==
        std::vector<std::string>{absl::StrCat(
            "Warning ClusterNotReachable Cluster: cluster is not reachable: ", cause)});
  CHECK(m1.Requests().size() == 1);  // No status is collected.
}

TEST_CASE_METHOD(Fixture, "a member that answers without being well is not ready") {
  m1.FailNext("GET", 204, "");
  REQUIRE(Reconcile().ok());
  CHECK(Ready() ==
        "False ClusterNotReady: cluster is reachable but health endpoint responded without ok");
}

TEST_CASE_METHOD(Fixture, "a member that no client can be made for is reported with the reason") {
  Put([](kube::Object& c) { c.Set({"metadata", "name"}, "m9"); });
  REQUIRE(reconciler->Reconcile({.key = {"", "m9"}}, {}).ok());
  const kube::Object cluster = server->Find(api::Clusters(), {"", "m9"});
  const json::Value ready = *kube::FindCondition(cluster.status()["conditions"], "Ready");
  CHECK(ready["reason"].AsString() == "StatusCollectionFailed");
  CHECK(absl::StartsWith(ready["message"].AsString(), "failed to create a ClusterClient: "));
  CHECK(recorded->All().size() == 1);
}

TEST_CASE("the cause of an outage has no addresses that change, and is short") {
  CHECK(controllers::StableCause("cannot connect to m1:443: connection refused (10.0.0.1:443); "
                                 "connection refused ([fd00::1]:443); no route (10.0.0.2:443)") ==
        "cannot connect to m1:443: connection refused; connection refused; no route");
  CHECK(controllers::StableCause("TLS: wrong (self-signed) certificate") ==
        "TLS: wrong (self-signed) certificate");
  CHECK(controllers::StableCause("an open (bracket") == "an open (bracket");
  CHECK(controllers::StableCause(std::string(1000, 'x')).size() < 400);
}

TEST_CASE("what leads to a member is compared, and what does not is left out") {
  kube::Object cluster = kube::Object::Make(api::Clusters().gvk, {"", "m1"});
  kube::Object secret = kube::Object::Make(api::Secrets().gvk, {"s", "m1"});
  const auto now = [&] { return controllers::ConfigurationOf(api::ClusterView(cluster), &secret); };
  std::string before = now();
  cluster.Set({"spec", "taints"}, Json(R"([{"key": "k", "effect": "NoSchedule"}])"));
  CHECK(now() == before);
  for (const char* field : {"apiEndpoint", "proxyURL"}) {
    cluster.Set({"spec", field}, "other");
    CHECK(now() != before);
    before = now();
  }
  secret.Set({"metadata", "resourceVersion"}, "2");
  secret.Set({"metadata", "labels", "touched"}, "today");
  CHECK(now() == before);
  for (const char* field : {"token", "caBundle"}) {
    secret.Set({"data", field}, "c2VjcmV0");
    CHECK(now() != before);
    CHECK_FALSE(absl::StrContains(now(), "c2VjcmV0"));
    before = now();
  }
  CHECK(controllers::ConfigurationOf(api::ClusterView(cluster), nullptr) != now());
}

TEST_CASE_METHOD(Fixture, "a short outage shows in events alone, a longer one in the condition") {
  REQUIRE(Reconcile().ok());
  CHECK(recorded->All().empty());  // A member that joins is no recovery.
  m1.FailNext("GET", 500, "InternalError");
  clock.Advance(absl::Seconds(10));
  REQUIRE(Reconcile().ok());
  CHECK(Condition()["status"].AsString() == "True");
  const std::string warning =
      "Warning ClusterNotReachable Cluster: cluster is not reachable: /readyz was answered with "
      "code 500";
  const std::string recovery =
      "Normal ClusterReady Cluster: cluster is healthy and ready to accept workloads";
  CHECK(recorded->All() == std::vector<std::string>{warning});
  SECTION("it ends in time") {
    REQUIRE(Reconcile().ok());
    CHECK(recorded->All() == std::vector<std::string>{warning, recovery});
    // The next ones within ten minutes are too many, and a recovery is no news any more.
    m1.FailNext("GET", 500, "InternalError");
    clock.Advance(absl::Minutes(9));
    for (int probe = 0; probe < 3; ++probe) REQUIRE(Reconcile().ok());
    CHECK(recorded->All() == std::vector<std::string>{warning, recovery, warning});
    m1.FailNext("GET", 500, "InternalError");
    clock.Advance(absl::Minutes(1));
    for (int probe = 0; probe < 3; ++probe) REQUIRE(Reconcile().ok());
    CHECK(recorded->All() ==
          std::vector<std::string>{warning, recovery, warning, warning, recovery});
  }
  SECTION("it lasts") {
    m1.FailNext("GET", 500, "InternalError");
    clock.Advance(absl::Seconds(30));
    REQUIRE(Reconcile().ok());
    CHECK(Condition()["status"].AsString() == "False");
    REQUIRE(Reconcile().ok());  // The member is well again, which has to last as well.
    CHECK(recorded->All() == std::vector<std::string>{warning, warning});
    clock.Advance(absl::Seconds(30));
    REQUIRE(Reconcile().ok());
    CHECK(recorded->All() == std::vector<std::string>{warning, warning, recovery});
  }
}

TEST_CASE_METHOD(Fixture, "a cause that goes back and forth is neither written nor reported") {
  m1.FailNext("GET", 500, "InternalError");
  REQUIRE(Reconcile().ok());
  const size_t writes = server->Requests("PATCH").size();
  const std::string first = Ready();
  for (const int code : {503, 500, 503, 500, 503, 500, 503, 500}) {
    m1.FailNext("GET", code, "Error");
    clock.Advance(absl::Seconds(10));
    REQUIRE(Reconcile().ok());
  }
  CHECK(Ready() == first);
  CHECK(server->Requests("PATCH").size() == writes);
  const std::vector<std::string> events = recorded->All();
  CHECK(std::set<std::string>(events.begin(), events.end()).size() == 1);
}

TEST_CASE_METHOD(Fixture, "a member whose secret is repaired is ready with the first answer") {
  kube::Object secret = kube::Object::Make(api::Secrets().gvk, {"s", "m1"});
  PutCached(api::Secrets(), secret);
  m1.FailNext("GET", 401, "Unauthorized", 2);
  REQUIRE(Reconcile().ok());
  clock.Advance(absl::Seconds(10));
  REQUIRE(Reconcile().ok());
  CHECK(Condition()["status"].AsString() == "False");
  secret.Set({"data", "token"}, "cmlnaHQ=");
  PutCached(api::Secrets(), secret);
  SECTION("by the first probe") {}
  SECTION("although it is slow to accept the token") {
    m1.FailNext("GET", 401, "Unauthorized");
    REQUIRE(Reconcile().ok());
    CHECK(Condition()["status"].AsString() == "False");
  }
  SECTION("although the condition cannot be written at first") {
    server->FailNext("PATCH", 409, "Conflict");
    CHECK_FALSE(Reconcile().ok());
    CHECK(Condition()["status"].AsString() == "False");
  }
  REQUIRE(Reconcile().ok());
  CHECK(Condition()["status"].AsString() == "True");
}

TEST_CASE_METHOD(Fixture, "a member that stays as it is costs no write") {
  REQUIRE(Reconcile().ok());
  const size_t writes = server->Requests("PATCH").size();
  clock.Advance(absl::Seconds(10));
  REQUIRE(Reconcile().ok());
  CHECK(server->Requests("PATCH").size() == writes);
}

TEST_CASE_METHOD(Fixture, "other conditions and what others report stay") {
  Put([](kube::Object& c) {
    c.Set({"status"}, Json(R"({"conditions": [{"type": "Theirs", "status": "True"}],
                               "remedyActions": ["TrafficControl"]})"));
  });
  REQUIRE(Reconcile().ok());
  CHECK(Condition("Theirs")["status"].AsString() == "True");
  const kube::Object cluster = server->Find(api::Clusters(), {"", "m1"});
  CHECK(cluster.status()["remedyActions"].size() == 1);
}

TEST_CASE_METHOD(Fixture, "a member that serves nothing is said to have empty enablements") {
  REQUIRE(Reconcile().ok());
  CHECK(Condition("CompleteAPIEnablements")["status"].AsString() == "False");
  CHECK(Condition("CompleteAPIEnablements")["reason"].AsString() == "Empty");
  CHECK(Condition("CompleteAPIEnablements")["message"].AsString() ==
        "collected empty APIEnablements from the cluster");
}

// Returns the group versions with the number of their kinds, in order: "apps/v1=1 x.io/v1=1".
std::string Enablements(const kube::Object& cluster) {
  std::string all;
  for (const json::Value& entry : cluster.status()["apiEnablements"].items()) {
    absl::StrAppend(&all, all.empty() ? "" : " ", entry["groupVersion"].AsString(), "=",
                    entry["resources"].size());
  }
  return all;
}

TEST_CASE_METHOD(Fixture, "groups that cannot be read stay listed, with reason Partial") {
  const kube::Resource robots{{"x.io", "v1", "Robot"}, "robots", true};
  m1.Serve({tests::kConfigMaps, tests::kDeployments, robots});
  const auto cluster_now = [&] { return server->Find(api::Clusters(), {"", "m1"}); };
  REQUIRE(Reconcile().ok());
  REQUIRE(Enablements(cluster_now()) == "apps/v1=1 v1=1 x.io/v1=1");
  REQUIRE(Condition("CompleteAPIEnablements")["reason"].AsString() == "Complete");

  m1.Serve({tests::kConfigMaps, tests::kDeployments}, {robots.gvk});
  REQUIRE(Reconcile().ok());
  CHECK(Enablements(cluster_now()) == "apps/v1=1 v1=1 x.io/v1=1");
  CHECK(Condition("CompleteAPIEnablements")["reason"].AsString() == "Partial");

  m1.Serve({tests::kConfigMaps, tests::kDeployments});
  REQUIRE(Reconcile().ok());
  CHECK(Enablements(cluster_now()) == "apps/v1=1 v1=1");
  CHECK(Condition("CompleteAPIEnablements")["reason"].AsString() == "Complete");
}

TEST_CASE_METHOD(Fixture, "pull clusters are not probed") {
  Put([](kube::Object& c) { c.Set({"spec", "syncMode"}, "Pull"); });
  REQUIRE(Reconcile().ok());
  CHECK(m1.Requests().empty());
  CHECK(Condition().is_null());
}

TEST_CASE_METHOD(Fixture, "a cluster that the cluster loop has not taken on yet waits") {
  Put([](kube::Object& c) { c.Erase({"metadata", "finalizers"}); });
  const auto action = Reconcile();
  REQUIRE(action.ok());
  // A requeued request would delay the others if there are many.
  CHECK(action->kind() == kube::Action::Kind::kDone);
  CHECK(m1.Requests().empty());
}

TEST_CASE("an update of a cluster is looked at when its spec changes or it is taken on") {
  kube::Object before = kube::Object::Make(api::Clusters().gvk, {"", "m1"});
  before.Set({"metadata", "generation"}, 1);
  kube::Object after = before;
  after.Set({"status", "x"}, 1);
  CHECK_FALSE(controllers::IsNewsForStatus(before, after));
  after.AddFinalizer("other");
  CHECK_FALSE(controllers::IsNewsForStatus(before, after));
  after.AddFinalizer(api::kClusterFinalizer);
  CHECK(controllers::IsNewsForStatus(before, after));
  CHECK_FALSE(controllers::IsNewsForStatus(after, after));
  after = before;
  after.Set({"metadata", "generation"}, 2);
  CHECK(controllers::IsNewsForStatus(before, after));
}

TEST_CASE_METHOD(Fixture, "a cluster that becomes an agent's is forgotten, its metrics with it") {
  REQUIRE(Reconcile().ok());
  REQUIRE(absl::StrContains(registry.Expose(), "cluster_ready_state"));
  Put([](kube::Object& c) { c.Set({"spec", "syncMode"}, "Pull"); });
  REQUIRE(Reconcile().ok());
  CHECK_FALSE(absl::StrContains(registry.Expose(), "cluster_ready_state"));
}

TEST_CASE_METHOD(Fixture, "a cluster that is gone is forgotten, its metrics with it") {
  REQUIRE(Reconcile().ok());
  REQUIRE(members.Find("m1") != nullptr);
  server->Erase(api::Clusters(), {"", "m1"});
  REQUIRE(tests::Eventually([&] { return cluster.Find(api::Clusters(), {"", "m1"}) == nullptr; }));
  REQUIRE(Reconcile().ok());
  CHECK_FALSE(absl::StrContains(registry.Expose(), "cluster_ready_state"));
}

}  // namespace
