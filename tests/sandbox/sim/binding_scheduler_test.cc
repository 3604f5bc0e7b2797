#include "sandbox/sim/binding_scheduler.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "api/keys.h"
#include "api/resources.h"
#include "tests/sandbox/sim/sim_cluster.h"

namespace sandbox {
namespace {

using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

json::Value Definition(const kube::Resource& r) {
  json::Value crd =
      Json(R"({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
      "spec": {"versions": [{"served": true, "storage": true, "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}})");
  crd.Set({"metadata", "name"}, absl::StrCat(r.plural, ".", r.gvk.group));
  json::Value& spec = crd.Mutable("spec");
  spec.Set("group", r.gvk.group);
  spec.Set("scope", r.namespaced ? "Namespaced" : "Cluster");
  spec.Set("names", json::Value::Object({{"kind", r.gvk.kind}, {"plural", r.plural}}));
  spec.Mutable("versions").MutableAt(0).Set("name", r.gvk.version);
  return crd;
}

struct Fixture : SimCluster {
  Fixture() {
    for (const auto& r : {api::Clusters(), api::ResourceBindings()}) Create(Definition(r));
    for (const char* name : {"m1", "m2", "m3"}) AddCluster(name);
    scheduler.emplace(backend, loop, api::ResourceBindings(), SchedulingRules());
    Settle();
  }

  void AddCluster(const std::string& name) {
    Create(kube::Object::Make(api::Clusters().gvk, {"", name}).root());
    Patch(api::Clusters(), "", name, R"({"status": {"apiEnablements": [
        {"groupVersion": "apps/v1", "resources": [{"name": "deployments", "kind": "Deployment"}]}]}})",
          "status");
  }
  void AddBinding(const std::string& placement, const std::string& rest = "{}") {
    kube::Object binding = kube::Object::Make(api::ResourceBindings().gvk, {"default", "b"});
    binding.SetLabel(api::kPropagationPolicyIdLabel, "policy");
    binding.Set({"spec"}, Json(R"({"replicas": 4, "schedulerName": "default-scheduler",
        "resource": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}})"));
    binding.Set({"spec", "placement"}, Json(placement));
    const json::Value members = Json(rest);
    for (const json::Member& member : members.members()) {
      binding.mutable_root().Set(member.name(), member.value);
    }
    Create(binding.root());
    Settle();
  }
  kube::ObjectPtr Binding() { return Get(api::ResourceBindings(), "default", "b"); }
  void PatchBinding(const char* patch, const std::string& subresource = "") {
    Patch(api::ResourceBindings(), "default", "b", patch, subresource);
    Settle();
  }
  std::string Targets() { return json::Write(Binding()->spec()["clusters"]); }
  std::string Reason() {
    const json::Value* c = kube::FindCondition(Binding()->status()["conditions"], "Scheduled");
    return c == nullptr ? "" : (*c)["reason"].ToString();
  }

  // "<type> <reason> x<count> on <kind>: <message>" of each event, sorted.
  std::vector<std::string> Events() {
    std::vector<std::string> lines;
    for (const kube::ObjectPtr& event : List(kinds::Events())) {
      lines.push_back(absl::StrCat(
          event->Get({"type"}).AsString(), " ", event->Get({"reason"}).AsString(), " x",
          event->Get({"count"}).AsInt(), " on ", event->Get({"involvedObject", "kind"}).AsString(),
          ": ", event->Get({"message"}).AsString()));
    }
    std::sort(lines.begin(), lines.end());
    return lines;
  }

  std::optional<BindingScheduler> scheduler;
};

constexpr char kOnM1M2[] = R"({"clusterAffinity": {"clusterNames": ["m1", "m2"]}})";
constexpr char kDivided[] = R"({"replicaScheduling": {"replicaSchedulingType": "Divided",
    "replicaDivisionPreference": "Weighted"}, "clusterAffinity": {"clusterNames": ["m1", "m2"]}})";

TEST_CASE_METHOD(Fixture, "a new binding is placed and its status says so") {
  AddBinding(kOnM1M2);
  CHECK(Targets() == R"([{"name":"m1","replicas":4},{"name":"m2","replicas":4}])");
  CHECK(Json(Binding()->Annotation(api::kAppliedPlacementAnnotation)) == Json(kOnM1M2));
  CHECK(Reason() == "Success");
  const json::Value& status = Binding()->status();
  CHECK(status["schedulerObservedGeneration"].AsInt() == Binding()->generation());
  CHECK(status["lastScheduledTime"].is_string());
}

TEST_CASE_METHOD(Fixture, "a settled binding is left alone") {
  AddBinding(kOnM1M2);
  const std::string version(Binding()->resource_version());
  Advance(absl::Hours(1));
  PatchBinding(R"({"metadata": {"labels": {"x": "y"}}})");
  const std::string labelled(Binding()->resource_version());
  Advance(absl::Hours(1));
  CHECK(Binding()->resource_version() == labelled);
  CHECK(version != labelled);
}

TEST_CASE_METHOD(Fixture, "changes of placement and replicas are followed") {
  AddBinding(kDivided);
  CHECK(Targets() == R"([{"name":"m1","replicas":2},{"name":"m2","replicas":2}])");
  PatchBinding(R"({"spec": {"replicas": 7}})");
  CHECK(Targets() == R"([{"name":"m1","replicas":4},{"name":"m2","replicas":3}])");
  PatchBinding(R"({"spec": {"placement": {"clusterAffinity": {"clusterNames": ["m3"]}}}})");
  CHECK(Targets() == R"([{"name":"m3","replicas":7}])");
}

TEST_CASE_METHOD(Fixture, "bindings of others are not touched") {
  SECTION("no policy") {
    AddBinding(kOnM1M2, R"({"metadata": {"name": "b", "namespace": "default"}})");
  }
  SECTION("another scheduler") {
    AddBinding(kOnM1M2, R"({"spec": {"schedulerName": "mine", "placement": {}}})");
  }
  SECTION("suspended") {
    AddBinding(kOnM1M2, R"({"spec": {"suspension": {"scheduling": true}, "placement": {},
                                     "resource": {"apiVersion": "apps/v1", "kind": "Deployment"}}})");
    CHECK(Reason().empty());
    PatchBinding(R"({"spec": {"suspension": null}})");
    CHECK(Reason() == "Success");
    return;
  }
  CHECK(Binding()->spec()["clusters"].is_null());
  CHECK(Binding()->status().is_null());
}

TEST_CASE_METHOD(Fixture,
                 "when no cluster fits, targets are cleared but the placement counts as applied") {
  AddBinding(kOnM1M2);
  PatchBinding(R"({"spec": {"placement": {"clusterAffinity": {"clusterNames": ["m9"]}}}})");
  CHECK(Binding()->spec()["clusters"].is_null());
  CHECK(Reason() == "NoClusterFit");
  CHECK(Json(Binding()->Annotation(api::kAppliedPlacementAnnotation)) ==
        Json(R"({"clusterAffinity": {"clusterNames": ["m9"]}})"));
  CHECK(Binding()->status()["schedulerObservedGeneration"].AsInt() < Binding()->generation());
}

TEST_CASE_METHOD(Fixture, "an unmet spread constraint leaves the targets and is tried again") {
  AddBinding(
      R"({"spreadConstraints": [{"spreadByField": "cluster", "minGroups": 4, "maxGroups": 4}]})");
  CHECK(Reason() == "SchedulerError");
  CHECK(Binding()->Annotation(api::kAppliedPlacementAnnotation).empty());
  AddCluster("m4");
  Advance(absl::Seconds(2));
  CHECK(Reason() == "Success");
  CHECK(Binding()->spec()["clusters"].size() == 4);
}

TEST_CASE_METHOD(Fixture, "clusters that change, taint or leave move bindings") {
  AddBinding("{}");
  CHECK(Binding()->spec()["clusters"].size() == 3);
  AddCluster("m4");
  Settle();
  // A new cluster alone does not change the placement.
  CHECK(Binding()->spec()["clusters"].size() == 3);
  Patch(api::Clusters(), "", "m4", R"({"spec": {"region": "eu"}})");
  Settle();
  CHECK(Binding()->spec()["clusters"].size() == 4);
  Patch(api::Clusters(), "", "m1", R"({"metadata": {"finalizers": ["example.io/hold"]}})");
  Delete(api::Clusters(), "", "m1");
  Settle();
  CHECK(Binding()->spec()["clusters"].At(0)["name"].ToString() == "m2");
  CHECK(Binding()->spec()["clusters"].size() == 3);
}

TEST_CASE_METHOD(Fixture, "a binding whose policy was deleted leaves a cluster that is removed") {
  const char* placement = GENERATE(kOnM1M2, kDivided);
  AddBinding(placement);
  PatchBinding(
      absl::StrCat(R"({"metadata": {"labels": {")", api::kPropagationPolicyIdLabel, R"(": null}}})")
          .c_str());
  const std::string targets = Targets();
  PatchBinding(R"({"spec": {"replicas": 6}})");  // No reason to look at it.
  CHECK(Targets() == targets);
  Patch(api::Clusters(), "", "m2", R"({"metadata": {"finalizers": ["example.io/hold"]}})");
  Delete(api::Clusters(), "", "m2");
  Settle();
  CHECK(Targets() == R"([{"name":"m1","replicas":6}])");
}

TEST_CASE_METHOD(Fixture, "the affinity that won is recorded") {
  AddBinding(R"({"clusterAffinities": [{"affinityName": "first", "clusterNames": ["m9"]},
                                       {"affinityName": "second", "clusterNames": ["m2"]}]})");
  CHECK(Targets() == R"([{"name":"m2","replicas":4}])");
  CHECK(Binding()->status()["schedulerObservingAffinityName"].ToString() == "second");
}

TEST_CASE_METHOD(Fixture, "a foreign change of a divided binding's targets is corrected") {
  AddBinding(kDivided);
  PatchBinding(
      R"({"spec": {"clusters": [{"name": "m1", "replicas": 1}, {"name": "m2", "replicas": 2}]}})");
  CHECK(Targets() == R"([{"name":"m1","replicas":2},{"name":"m2","replicas":2}])");
}

TEST_CASE_METHOD(Fixture,
                 "a divided binding whose spec changed otherwise is only marked as observed") {
  AddBinding(kDivided);
  const std::string placed = Targets();
  PatchBinding(R"({"spec": {"conflictResolution": "Overwrite"}})");
  CHECK(Targets() == placed);
  CHECK(Binding()->status()["schedulerObservedGeneration"].AsInt() == Binding()->generation());
}

TEST_CASE_METHOD(Fixture, "the outcome is reported on the binding and on its template") {
  AddBinding(R"({"clusterAffinity": {"clusterNames": ["m9"]}})");
  REQUIRE(Events().size() == 2);
  const std::string message =
      (*kube::FindCondition(Binding()->status()["conditions"], "Scheduled"))["message"].ToString();
  CHECK(Events()[0] == "Warning ScheduleBindingFailed x1 on Deployment: " + message);
  CHECK(Events()[1] == "Warning ScheduleBindingFailed x1 on ResourceBinding: " + message);
  CHECK(List(kinds::Events())[0]->Get({"source", "component"}).AsString() == "default-scheduler");
  PatchBinding(R"({"spec": {"placement": {"clusterAffinity": {"clusterNames": ["m1"]}}}})");
  REQUIRE(Events().size() == 4);
  CHECK_THAT(Events()[1], EndsWith("on ResourceBinding: Binding has been scheduled successfully. "
                                   "Result: {m1:4}"));
}

TEST_CASE_METHOD(Fixture, "a failure that is tried again is reported once") {
  AddBinding(R"({"spreadConstraints": [{"spreadByField": "cluster", "minGroups": 5}]})");
  REQUIRE(Reason() == "SchedulerError");
  for (int i = 0; i < 3; ++i) Advance(absl::Seconds(2));
  REQUIRE(Events().size() == 2);
  CHECK_THAT(Events()[0], StartsWith("Warning ScheduleBindingFailed x1 on Deployment: "));
}

TEST_CASE("changes that require scheduling") {
  const kube::Object settled(
      Json(R"({"metadata": {"annotations": {"policy.karmada.io/applied-placement":
          "{\"replicaScheduling\":{\"replicaSchedulingType\":\"Divided\"}}"}},
      "spec": {"replicas": 2, "clusters": [{"name": "m1", "replicas": 2}],
               "placement": {"replicaScheduling": {"replicaSchedulingType": "Divided"}}},
      "status": {"lastScheduledTime": "2024-01-01T00:00:00Z"}})"));
  CHECK(ReasonToSchedule(settled) == ScheduleReason::kNone);
  kube::Object binding = settled;
  binding.Set({"spec", "rescheduleTriggeredAt"}, "2024-01-01T00:00:01Z");
  CHECK(ReasonToSchedule(binding) == ScheduleReason::kRescheduled);
  binding.Set({"spec", "replicas"}, 3);
  CHECK(ReasonToSchedule(binding) == ScheduleReason::kReplicas);
  binding.Set({"spec", "placement", "clusterTolerations"}, Json("[{}]"));
  CHECK(ReasonToSchedule(binding) == ScheduleReason::kPlacement);
  binding = settled;
  binding.SetAnnotation("policy.karmada.io/applied-placement", "{broken");
  CHECK(ReasonToSchedule(binding) == ScheduleReason::kNone);
  binding = settled;
  binding.Erase({"spec", "replicas"});
  binding.Erase({"spec", "clusters"});
  CHECK(ReasonToSchedule(binding) == ScheduleReason::kAlways);
}

TEST_CASE_METHOD(Fixture, "bindings that wait are placed by their priority with the gate for it") {
  const bool by_priority = GENERATE(false, true);
  scheduler.emplace(backend, loop, api::ResourceBindings(),
                    SchedulingRules{.by_priority = by_priority});
  Settle();
  std::vector<std::string> order;
  const int64_t subscription =
      backend.Subscribe(api::ResourceBindings().gvr(), [&](const Event& event) {
        if (event.type != Event::Type::kModified) return;
        // Clusters and status are two writes, of which the second wakes it again.
        const std::string name(event.object->name());
        if (std::find(order.begin(), order.end(), name) == order.end()) order.push_back(name);
      });
  // All of them wait before the first one has its turn.
  std::atomic<bool> go = false;
  loop.Post(this, [&] {
    while (!go) std::this_thread::yield();
  });
  int64_t priority = 0;
  for (const char* name : {"a", "b", "c", "d"}) {
    kube::Object binding = kube::Object::Make(api::ResourceBindings().gvk, {"default", name});
    binding.SetLabel(api::kPropagationPolicyIdLabel, "policy");
    binding.Set({"spec"}, Json(R"({"replicas": 1,
        "resource": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}})"));
    binding.Set({"spec", "placement"}, Json(kOnM1M2));
    if (priority > 0) binding.Set({"spec", "schedulePriority", "priority"}, priority);
    priority = priority == 0 ? 10 : priority == 10 ? 20 : 10;
    Create(binding.root());
  }
  go = true;
  Settle();
  backend.Unsubscribe(subscription);
  const std::vector<std::string> as_made = {"a", "b", "c", "d"};
  const std::vector<std::string> ranked = {"c", "b", "d", "a"};
  CHECK(order == (by_priority ? ranked : as_made));
}

TEST_CASE_METHOD(Fixture, "as v1.19 a rescheduling begins with the first affinity again") {
  const auto release = GENERATE(config::Release::kV1_18, config::Release::kV1_19);
  scheduler.emplace(backend, loop, api::ResourceBindings(), SchedulingRules{.release = release});
  AddBinding(R"({"clusterAffinities": [{"affinityName": "first", "clusterNames": ["m1"]},
                                       {"affinityName": "second", "clusterNames": ["m2"]}]})");
  PatchBinding(R"({"status": {"schedulerObservingAffinityName": "second"}})", "status");
  clock.Advance(absl::Minutes(1));
  const std::string now = kube::FormatTime(clock.Now());
  PatchBinding(absl::StrCat(R"({"spec": {"rescheduleTriggeredAt": ")", now, R"("}})").c_str());
  const bool again = release == config::Release::kV1_19;
  CHECK(Binding()->status()["schedulerObservingAffinityName"].ToString() ==
        (again ? "first" : "second"));
  CHECK(Targets() == absl::StrCat(R"([{"name":")", again ? "m1" : "m2", R"(","replicas":4}])"));
}

}  // namespace
}  // namespace sandbox
