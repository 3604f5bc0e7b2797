#include "controllers/workload_rebalancer/register.h"
#include "controllers/workload_rebalancer/workload_rebalancer_reconciler.h"

#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "controllers/workload_rebalancer/observed_workloads.h"
#include "tests/support/loops_fixture.h"

namespace {

using tests::Json;

constexpr char kWeb[] =
    R"({"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "ns", "name": "web"})";
constexpr char kDemo[] = R"({"apiVersion": "v1", "kind": "Namespace", "name": "demo"})";
constexpr char kLost[] =
    R"({"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "ns", "name": "lost"})";
constexpr char kCreated[] = "2024-05-01T10:00:00Z";
const kube::ObjectKey kWebBinding = {"ns", "web-deployment"};
const kube::ObjectKey kDemoBinding = {"", "demo-namespace"};

kube::Object Rebalancer(const std::string& workloads) {
  kube::Object object = kube::Object::Make(api::WorkloadRebalancers().gvk, {"", "again"});
  object.Set({"metadata", "generation"}, 1);
  object.Set({"metadata", "creationTimestamp"}, kCreated);
  object.Set({"spec", "workloads"}, Json(absl::StrCat("[", workloads, "]")));
  return object;
}

std::string Item(const std::string& workload, const std::string& rest) {
  return absl::StrCat(R"({"workload": )", workload, rest, "}");
}

struct Fixture : tests::LoopsFixture {
  std::optional<controllers::WorkloadRebalancerReconciler> reconciler;

  Fixture() {
    Sync({api::WorkloadRebalancers(), api::ResourceBindings(), api::ClusterResourceBindings()});
    PutBinding(api::ResourceBindings(), kWebBinding);
    PutBinding(api::ClusterResourceBindings(), kDemoBinding);
    reconciler.emplace(Make());
  }

  void PutBinding(const kube::Resource& r, const kube::ObjectKey& key, const char* at = "") {
    kube::Object binding = kube::Object::Make(r.gvk, key);
    binding.Set({"spec", "clusters"}, Json(R"([{"name": "m1"}])"));
    if (*at != 0) binding.Set({"spec", "rescheduleTriggeredAt"}, at);
    PutCached(r, binding);
  }
  void Put(const kube::Object& object) { PutCached(api::WorkloadRebalancers(), object); }
  kube::Object Now() const { return server->Find(api::WorkloadRebalancers(), {"", "again"}); }
  absl::StatusOr<kube::Action> Reconcile() {
    return reconciler->Reconcile({.key = {"", "again"}}, {});
  }
  std::string TriggeredAt(const kube::Resource& r, const kube::ObjectKey& key) const {
    return server->Find(r, key).spec()["rescheduleTriggeredAt"].ToString();
  }
  size_t Writes() const { return server->Requests("PATCH").size(); }
};

TEST_CASE_METHOD(Fixture, "bindings of both scopes are triggered once, with the time of creation") {
  Put(Rebalancer(absl::StrCat(kWeb, ",", kDemo)));
  REQUIRE(Reconcile().ok());
  CHECK(TriggeredAt(api::ResourceBindings(), kWebBinding) == kCreated);
  CHECK(TriggeredAt(api::ClusterResourceBindings(), kDemoBinding) == kCreated);
  const kube::Object now = Now();
  CHECK(now.status()["observedGeneration"].AsInt() == 1);
  CHECK(now.status()["finishTime"].AsString() == kube::FormatTime(clock.Now()));
  CHECK(now.status()["observedWorkloads"] ==
        Json(absl::StrCat("[", Item(kWeb, R"(,"result":"Successful")"), ",",
                          Item(kDemo, R"(,"result":"Successful")"), "]")));
  CHECK(Writes() == 3);
  const std::vector<std::string> events = {
      "Normal RebalanceStarted WorkloadRebalancer: The scheduler is asked to place 2 workload(s) "
      "again.",
      "Normal RebalanceFinished WorkloadRebalancer: The scheduler was asked to place 2 workload(s) "
      "again; 0 failed."};
  CHECK(recorded->All() == events);
  Put(now);                      // The cache follows the write.
  reconciler.emplace(*manager);  // Forgets everything, as a restart does.
  clock.Advance(absl::Hours(1));
  REQUIRE(Reconcile().ok());
  CHECK(Writes() == 3);
  CHECK(recorded->All() == events);
}

TEST_CASE_METHOD(Fixture, "a later request is not taken back by an older rebalancer") {
  PutBinding(api::ResourceBindings(), kWebBinding, "2024-05-01T10:00:01Z");
  PutBinding(api::ClusterResourceBindings(), kDemoBinding, "2024-05-01T09:59:59Z");
  Put(Rebalancer(absl::StrCat(kWeb, ",", kDemo)));
  REQUIRE(Reconcile().ok());
  CHECK(TriggeredAt(api::ResourceBindings(), kWebBinding) == "2024-05-01T10:00:01Z");
  CHECK(TriggeredAt(api::ClusterResourceBindings(), kDemoBinding) == kCreated);
}

TEST_CASE_METHOD(Fixture, "a workload without a binding has failed for good, others go on") {
  Put(Rebalancer(absl::StrCat(kLost, ",", kWeb)));
  REQUIRE(Reconcile().ok());
  CHECK(Now().status()["observedWorkloads"].At(0) ==
        Json(Item(kLost, R"(,"result":"Failed","reason":"ReferencedBindingNotFound")")));
  CHECK(TriggeredAt(api::ResourceBindings(), kWebBinding) == kCreated);
  CHECK(Now().status().Has("finishTime"));
  const std::vector<std::string> events = recorded->All();
  REQUIRE(events.size() == 3);
  CHECK(absl::StartsWith(events.at(1),
                         "Warning RebalanceWorkloadFailed WorkloadRebalancer: Deployment ns/lost "
                         "has no binding"));
  CHECK(absl::EndsWith(events.at(2), "to place 1 workload(s) again; 1 failed."));
  PutBinding(api::ResourceBindings(), {"ns", "lost-deployment"});
  REQUIRE(Reconcile().ok());
  CHECK(TriggeredAt(api::ResourceBindings(), {"ns", "lost-deployment"}).empty());
}

TEST_CASE_METHOD(Fixture, "a binding that the cache does not show yet is found") {
  Put(Rebalancer(kLost));
  server->Block("WATCH");
  server->EndWatches(absl::UnavailableError("cut off"));
  server->Put(api::ResourceBindings(),
              kube::Object::Make(api::ResourceBindings().gvk, {"ns", "lost-deployment"}));
  REQUIRE(Reconcile().ok());
  CHECK(TriggeredAt(api::ResourceBindings(), {"ns", "lost-deployment"}) == kCreated);
  server->Unblock();
}

TEST_CASE_METHOD(Fixture,
                 "a failed workload is tried again, and the rebalancer is not finished before") {
  Put(Rebalancer(absl::StrCat(kWeb, ",", kLost)));
  server->FailNext("PATCH", 403, "Forbidden");
  const absl::Status failed = Reconcile().status();
  CHECK(absl::StrContains(failed.message(), "asking to reschedule Deployment ns/web"));
  CHECK_FALSE(Now().status().Has("finishTime"));
  CHECK(Now().status()["observedWorkloads"].size() == 2);
  CHECK(Now().status()["observedWorkloads"].At(1) == Json(Item(kWeb, "")));
  CHECK(recorded->All().size() == 2);  // It has started, and one workload has failed.
  Put(Now());                          // The cache follows the write.
  REQUIRE(Reconcile().ok());
  CHECK(recorded->All().size() == 3);
  CHECK(Now().status().Has("finishTime"));
  CHECK(TriggeredAt(api::ResourceBindings(), kWebBinding) == kCreated);
}

TEST_CASE_METHOD(Fixture, "it is deleted when its time to live is over, and not before") {
  kube::Object object = Rebalancer(kWeb);
  object.Set({"spec", "ttlSecondsAfterFinished"}, 60);
  Put(object);
  absl::StatusOr<kube::Action> action = Reconcile();
  REQUIRE(action.ok());
  CHECK(action->kind() == kube::Action::Kind::kAfter);
  CHECK(action->delay() <= absl::Minutes(1));
  clock.Advance(absl::Seconds(30));
  action = Reconcile();
  REQUIRE(action.ok());
  CHECK(action->delay() <= absl::Seconds(30));
  CHECK_FALSE(Now().empty());
  clock.Advance(absl::Seconds(31));
  REQUIRE(Reconcile().ok());
  CHECK(Now().empty());
  CHECK(absl::StrContains(server->last_body(), "resourceVersion"));
}

TEST_CASE_METHOD(Fixture, "an edit is worked off, and the end is a new one") {
  Put(Rebalancer(kWeb));
  REQUIRE(Reconcile().ok());
  clock.Advance(absl::Hours(1));
  kube::Object edited = Now();
  edited.Set({"spec", "workloads"}, Json(absl::StrCat("[", kDemo, "]")));
  edited.Set({"metadata", "generation"}, 2);
  Put(edited);
  REQUIRE(Reconcile().ok());
  CHECK(TriggeredAt(api::ClusterResourceBindings(), kDemoBinding) == kCreated);
  CHECK(Now().status()["observedWorkloads"].size() == 2);
  CHECK(Now().status()["observedGeneration"].AsInt() == 2);
  CHECK(Now().status()["finishTime"].AsString() == kube::FormatTime(clock.Now()));
}

TEST_CASE_METHOD(Fixture, "the registered loop works off what is there and what comes") {
  REQUIRE(controllers::RegisterWorkloadRebalancer(Context(), 1).ok());
  Put(Rebalancer(kWeb));
  Start();
  CHECK(tests::Eventually(
      [&] { return TriggeredAt(api::ResourceBindings(), kWebBinding) == kCreated; }));
}

TEST_CASE("items follow the spec: failures leave with their workload, successes stay") {
  kube::Object object = Rebalancer(absl::StrCat(kWeb, ",", kWeb, ",", kDemo));
  const auto with = [](const char* name, const char* rest) {
    return Item(absl::StrCat(R"({"apiVersion": "v1", "kind": "A", "name": ")", name, "\"}"), rest);
  };
  object.Set({"status", "observedWorkloads"},
             Json(absl::StrCat("[", with("failed", R"(,"result":"Failed")"), ",",
                               with("pending", ""), ",", with("done", R"(,"result":"Successful")"),
                               ",", Item(kDemo, R"(,"result":"Failed","reason":"x")"), "]")));
  const std::vector<api::ObservedWorkload> items =
      controllers::WorkloadsToObserve(api::WorkloadRebalancerView(object));
  REQUIRE(items.size() == 3);
  CHECK(items[0].workload.name == "web");  // "apps/v1" is before "v1".
  CHECK(items[0].result.empty());
  CHECK(items[1].workload.name == "done");
  CHECK(items[2].workload.name == "demo");
  CHECK(items[2].result == "Failed");
}

}  // namespace
