#include "controllers/cluster_taint_policy/cluster_taint_policy_reconciler.h"
#include "controllers/cluster_taint_policy/register.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/cluster_taint_policy.h"
#include "api/wanted_taints.h"
#include "tests/support/loops_fixture.h"

namespace {

using tests::Json;

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);
constexpr char kNowText[] = "2023-11-14T22:13:20Z";
constexpr char kOld[] = R"({"key": "down", "effect": "NoExecute", "value": "v",
                            "timeAdded": "2020-01-01T00:00:00Z"})";
constexpr char kTheirs[] = R"({"key": "team", "effect": "NoSchedule"})";
constexpr char kNotReady[] =
    R"([{"conditionType": "Ready", "operator": "NotIn", "statusValues": ["True"]}])";
constexpr char kReady[] =
    R"([{"conditionType": "Ready", "operator": "In", "statusValues": ["True"]}])";

// `conditions` are types and statuses: {"Ready", "True"}.
kube::Object Cluster(const std::vector<std::pair<std::string, std::string>>& conditions,
                     const std::string& taints = "") {
  kube::Object cluster = kube::Object::Make(api::Clusters().gvk, {"", "m1"});
  cluster.SetLabel("tier", "front");
  if (!taints.empty()) cluster.Set({"spec", "taints"}, Json(absl::StrCat("[", taints, "]")));
  json::Value list = json::Value::Array();
  for (const auto& [type, status] : conditions) {
    list.Append(json::Value::Object({{"type", type}, {"status", status}}));
  }
  cluster.Set({"status", "conditions"}, std::move(list));
  return cluster;
}

// A policy about the taint down:NoExecute.
kube::Object Policy(const std::string& name, const char* add_on, const char* remove_on = "[]") {
  kube::Object policy = kube::Object::Make(api::ClusterTaintPolicies().gvk, {"", name});
  policy.Set({"metadata", "creationTimestamp"}, "2024-05-01T10:00:00Z");
  policy.Set({"metadata", "generation"}, 1);
  policy.Set({"spec", "addOnConditions"}, Json(add_on));
  policy.Set({"spec", "removeOnConditions"}, Json(remove_on));
  policy.Set({"spec", "taints"}, Json(R"([{"key": "down", "effect": "NoExecute"}])"));
  return policy;
}

// Returns "key:effect@timeAdded" of each wanted taint; "same" when nothing has to change.
std::vector<std::string> Wanted(const kube::Object& cluster,
                                const std::vector<kube::Object>& policies) {
  std::vector<kube::ObjectPtr> shared;
  for (const kube::Object& policy : policies) shared.push_back(kube::Share(policy));
  const auto taints = api::WantedTaints(api::ClusterView(cluster), shared, kNow);
  if (!taints.has_value()) return {"same"};
  std::vector<std::string> out;
  for (const api::Taint& t : *taints) {
    out.push_back(
        absl::StrCat(t.key, ":", t.effect, t.time_added.empty() ? "" : "@", t.time_added));
  }
  return out;
}

using Names = std::vector<std::string>;
const Names kSame = {"same"};
const Names kTainted = {absl::StrCat("down:NoExecute@", kNowText)};

TEST_CASE("a NoExecute taint stands until its policies remove it, for a while at most") {
  const auto standing = [](const char* ready_since, const char* taint, const kube::Object& policy) {
    kube::Object cluster = Cluster({}, taint);
    cluster.Set(
        {"status", "conditions"},
        json::Value::Array({json::Value::Object(
            {{"type", "Ready"}, {"status", "True"}, {"lastTransitionTime", ready_since}})}));
    return api::StandingNoExecuteTaints(api::ClusterView(cluster), {kube::Share(policy)}, kNow)
        .size();
  };
  const kube::Object removes = Policy("p", kNotReady, kReady);
  constexpr char kTenSecondsAgo[] = "2023-11-14T22:13:10Z";
  CHECK(standing(kTenSecondsAgo, kOld, removes) == 0);
  CHECK(standing(kTenSecondsAgo, kOld, Policy("p", kNotReady)) == 1);
  CHECK(standing(kTenSecondsAgo, R"({"key": "other", "effect": "NoExecute"})", removes) == 1);
  CHECK(standing(kTenSecondsAgo, R"({"key": "down", "effect": "NoSchedule"})", removes) == 0);
  // An administrator has added it since the cluster became ready.
  CHECK(standing(kTenSecondsAgo, R"({"key": "down", "effect": "NoExecute",
                                     "timeAdded": "2023-11-14T22:13:15Z"})",
                 removes) == 1);
  // Nobody has removed it for so long that nobody will.
  CHECK(standing("2023-11-14T22:12:50Z", kOld, removes) == 1);
  CHECK(standing("", kOld, removes) == 1);
}

TEST_CASE("a cluster gets the taint when all conditions match, and loses it likewise") {
  const kube::Object policy = Policy("p", kNotReady, kReady);
  CHECK(Wanted(Cluster({{"Ready", "False"}}), {policy}) == kTainted);
  CHECK(Wanted(Cluster({{"Ready", "Unknown"}}), {policy}) == kTainted);
  CHECK(Wanted(Cluster({{"Ready", "True"}}), {policy}) == kSame);
  CHECK(Wanted(Cluster({{"Ready", "True"}}, kOld), {policy}) == Names{});
  CHECK(Wanted(Cluster({{"Ready", "False"}}, kOld), {policy}) == kSame);

  const kube::Object both = Policy("both", R"([
      {"conditionType": "Ready", "operator": "In", "statusValues": ["False", "Unknown"]},
      {"conditionType": "Complete", "operator": "In", "statusValues": ["True"]}])");
  CHECK(Wanted(Cluster({{"Ready", "False"}}), {both}) == kSame);
  CHECK(Wanted(Cluster({{"Ready", "False"}, {"Complete", "True"}}), {both}) == kTainted);
}

TEST_CASE("a condition that is missing, an empty list and an unknown operator never match") {
  CHECK(Wanted(Cluster({}), {Policy("p", kNotReady)}) == kSame);
  CHECK(Wanted(Cluster({{"Ready", "False"}}), {Policy("p", "[]")}) == kSame);
  const kube::Object odd = Policy("p", R"([{"conditionType": "Ready", "operator": "Exists"}])");
  CHECK(Wanted(Cluster({{"Ready", "False"}}), {odd}) == kSame);
  CHECK(absl::StrContains(api::ClusterTaintPolicyView(odd).CheckOperators().message(),
                          "spec.addOnConditions[0].operator is \"Exists\""));
}

TEST_CASE("only the clusters that are meant are tainted") {
  kube::Object policy = Policy("p", kNotReady);
  policy.Set({"spec", "targetClusters"}, Json(R"({"clusterNames": ["m2"]})"));
  CHECK(Wanted(Cluster({{"Ready", "False"}}), {policy}) == kSame);
  policy.Set({"spec", "targetClusters"}, Json(R"({"labelSelector": {"matchLabels":
      {"tier": "front"}}})"));
  CHECK(Wanted(Cluster({{"Ready", "False"}}), {policy}) == kTainted);
}

TEST_CASE("policies are applied from the oldest on, and contradictions settle") {
  const kube::Object adds = Policy("a", kNotReady);
  kube::Object removes = Policy("b", "[]", kNotReady);
  const kube::Object down = Cluster({{"Ready", "False"}});
  const kube::Object tainted = Cluster({{"Ready", "False"}}, absl::StrCat(kOld, ",", kTheirs));
  CHECK(Wanted(down, {removes, adds}) == kSame);  // The name decides within one second.
  CHECK(Wanted(tainted, {removes, adds}) == Names{"team:NoSchedule"});
  removes.Set({"metadata", "creationTimestamp"}, "2024-05-01T09:59:59Z");
  CHECK(Wanted(down, {removes, adds}) == kTainted);
  CHECK(Wanted(tainted, {removes, adds}) == kSame);  // timeAdded stays, too.
}

TEST_CASE("other taints and other effects of the key stay") {
  const std::string mild = R"({"key": "down", "effect": "NoSchedule"})";
  CHECK(Wanted(Cluster({{"Ready", "True"}}, absl::StrCat(kTheirs, ",", kOld, ",", mild)),
               {Policy("p", kNotReady, kReady)}) == Names{"team:NoSchedule", "down:NoSchedule"});
}

struct Fixture : tests::LoopsFixture {
  std::optional<controllers::ClusterTaintPolicyReconciler> reconciler;
  Fixture() {
    Sync({api::Clusters(), api::ClusterTaintPolicies()});
    reconciler.emplace(Make());
  }
  absl::StatusOr<kube::Action> Reconcile() {
    return reconciler->Reconcile({.key = {"", "m1"}}, {});
  }
  json::Value Taints() const { return server->Find(api::Clusters(), {"", "m1"}).spec()["taints"]; }
};

TEST_CASE_METHOD(Fixture, "the change is written once, with an event, and only when it is one") {
  PutCached(api::ClusterTaintPolicies(), Policy("p", kNotReady, kReady));
  PutCached(api::Clusters(), Cluster({{"Ready", "False"}}, kTheirs));
  REQUIRE(Reconcile().ok());
  REQUIRE(Taints().size() == 2);
  CHECK(Taints().At(1)["timeAdded"].AsString() == kube::FormatTime(clock.Now()));
  CHECK(recorded->All() ==
        Names{"Normal TaintClusterSucceed Cluster: Update Cluster(m1) with taints(cluster now has "
              "taints([{Key:team,Effect:NoSchedule},{Key:down,Effect:NoExecute}])) succeed"});
  reconciler.emplace(*manager);
  REQUIRE(Reconcile().ok());
  CHECK(server->Requests("PATCH").size() == 1);
}

TEST_CASE_METHOD(Fixture, "a taint that somebody adds at the same moment is not lost") {
  PutCached(api::ClusterTaintPolicies(), Policy("p", kNotReady));
  PutCached(api::Clusters(), Cluster({{"Ready", "False"}}));
  server->Block("WATCH");
  server->EndWatches(absl::OkStatus());  // From here on the cache does not change.
  server->Put(api::Clusters(), Cluster({{"Ready", "False"}}, kTheirs));
  CHECK(absl::IsAborted(Reconcile().status()));
  CHECK(Taints() == Json(absl::StrCat("[", kTheirs, "]")));
  CHECK(recorded->All().empty());
  server->Unblock();
}

TEST_CASE_METHOD(Fixture, "a refused write is reported") {
  PutCached(api::ClusterTaintPolicies(), Policy("p", kNotReady));
  PutCached(api::Clusters(), Cluster({{"Ready", "False"}}));
  server->FailNext("PATCH", 403, "Forbidden");
  CHECK(absl::IsPermissionDenied(Reconcile().status()));
  REQUIRE(Reconcile().ok());
  const Names events = recorded->All();
  REQUIRE(events.size() == 2);
  CHECK(absl::StartsWith(events[0], "Warning TaintClusterFailed Cluster: "));
  CHECK(absl::StartsWith(events[1], "Normal TaintClusterSucceed Cluster: "));
}

TEST_CASE_METHOD(Fixture, "an impossible condition is reported once, also without any cluster") {
  REQUIRE(controllers::RegisterClusterTaintPolicy(Context(), 1).ok());
  kube::Object odd = Policy("odd", R"([{"conditionType": "Ready", "operator": "Is"}])");
  PutCached(api::ClusterTaintPolicies(), odd);
  PutCached(api::ClusterTaintPolicies(), Policy("p", kNotReady));
  Start();
  CHECK(tests::Eventually([&] { return !recorded->All().empty(); }));
  // A cluster that comes has its pass after that, and repeats nothing. The loop changes it at once,
  // so the cache need not have it as it is here.
  server->Put(api::Clusters(), Cluster({{"Ready", "False"}}));
  CHECK(tests::Eventually([&] { return Taints().size() == 1; }));
  odd.Set({"spec", "addOnConditions"}, Json(R"([{"conditionType": "X", "operator": "Is"}])"));
  PutCached(api::ClusterTaintPolicies(), odd);
  const auto reports = [&] {
    const Names events = recorded->All();
    return std::count_if(events.begin(), events.end(), [](const std::string& event) {
      return absl::StartsWith(event, "Warning InvalidMatchCondition ClusterTaintPolicy: spec.add");
    });
  };
  CHECK(tests::Eventually([&] { return reports() == 2; }));
}

TEST_CASE_METHOD(Fixture, "the registered loop follows policies, conditions and labels") {
  REQUIRE(controllers::RegisterClusterTaintPolicy(Context(), 1).ok());
  PutCached(api::Clusters(), Cluster({{"Ready", "False"}}));
  Start();
  kube::Object policy = Policy("p", kNotReady, kReady);
  policy.Set({"spec", "targetClusters"}, Json(R"({"labelSelector": {"matchLabels":
      {"tier": "back"}}})"));
  server->Put(api::ClusterTaintPolicies(), policy);
  kube::Object cluster = Cluster({{"Ready", "False"}});
  cluster.SetLabel("tier", "back");
  server->Put(api::Clusters(), cluster);
  CHECK(tests::Eventually([&] { return Taints().size() == 1; }));
  cluster = server->Find(api::Clusters(), {"", "m1"});
  cluster.Set({"status", "conditions"}, Cluster({{"Ready", "True"}}).status()["conditions"]);
  server->Put(api::Clusters(), cluster);
  CHECK(tests::Eventually([&] { return Taints().empty(); }));
  policy.Set({"spec", "addOnConditions"}, Json(kReady));
  policy.Set({"spec", "removeOnConditions"}, Json(kNotReady));
  server->Put(api::ClusterTaintPolicies(), policy);
  CHECK(tests::Eventually([&] { return Taints().size() == 1; }));
}

}  // namespace
