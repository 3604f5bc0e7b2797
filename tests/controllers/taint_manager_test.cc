#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "api/binding_scope.h"
#include "api/object_reference.h"
#include "controllers/taint_manager/binding_evictor.h"
#include "controllers/taint_manager/register.h"
#include "controllers/taint_manager/tainted_cluster_reconciler.h"
#include "tests/support/loops_fixture.h"

namespace {

using controllers::BindingEvictor;
using controllers::EvictionOutcome;
using tests::Json;

constexpr char kTolerates[] =
    R"({"clusterTolerations": [{"key": "down", "operator": "Exists", "tolerationSeconds": 60}]})";
constexpr char kToleratesForEver[] =
    R"({"clusterTolerations": [{"key": "down", "operator": "Exists"}]})";
const kube::ObjectKey kWeb = {"ns", "web-deployment"};

struct Fixture : tests::LoopsFixture {
  Fixture() {
    Sync({api::Clusters(), api::ClusterTaintPolicies(), api::ResourceBindings(),
          api::ClusterResourceBindings()});
    Make();
    flags.taint_eviction.no_execute = true;
  }

  void PutCluster(const std::string& effect = "NoExecute") {
    kube::Object object = kube::Object::Make(api::Clusters().gvk, {"", "m1"});
    if (!effect.empty()) {
      object.Set({"spec", "taints"}, json::Value::Array({json::Value::Object(
                                         {{"key", "down"},
                                          {"effect", effect},
                                          {"timeAdded", kube::FormatTime(clock.Now())}})}));
    }
    PutCached(api::Clusters(), object);
  }
  static kube::Object Binding(const std::string& placement = "{}",
                              const kube::ObjectKey& key = kWeb) {
    const kube::Resource& kind =
        key.ns.empty() ? api::ClusterResourceBindings() : api::ResourceBindings();
    kube::Object binding = kube::Object::Make(kind.gvk, key);
    binding.Set({"spec", "clusters"},
                Json(R"([{"name": "m1", "replicas": 2}, {"name": "m2", "replicas": 1}])"));
    binding.Set({"spec", "resource"},
                api::ObjectReference{
                    .api_version = "apps/v1", .kind = "Deployment", .ns = key.ns, .name = "web"}
                    .ToJson());
    if (!placement.empty()) binding.SetAnnotation(api::kAppliedPlacementAnnotation, placement);
    return binding;
  }
  void Put(const kube::Object& binding) { PutCached(api::ResourceBindings(), binding); }
  kube::Object Now() const { return server->Find(api::ResourceBindings(), kWeb); }
  json::Value Task() const { return Now().Get({"spec", "gracefulEvictionTasks"}).At(0); }

  absl::StatusOr<EvictionOutcome> Look() {
    return BindingEvictor<api::scope::Namespaced>(*manager, flags)
        .Look({.key = kWeb, .cluster = "m1"}, {});
  }
};

TEST_CASE_METHOD(Fixture, "a binding that does not tolerate the taint gets a task, once") {
  PutCluster();
  Put(Binding());
  absl::StatusOr<EvictionOutcome> outcome = Look();
  REQUIRE(outcome.ok());
  CHECK(outcome->evicted);
  CHECK(Now().spec()["clusters"] == Json(R"([{"name": "m2", "replicas": 1}])"));
  CHECK(Task() == Json(R"({"fromCluster": "m1", "replicas": 2, "purgeMode": "Gracefully",
                           "reason": "TaintUntolerated", "producer": "TaintManager"})"));
  outcome = Look();
  REQUIRE(outcome.ok());
  CHECK_FALSE(outcome->evicted);
  CHECK(server->Requests("PATCH").size() == 1);
  CHECK(recorded->All().empty());  // The end of the task is what is reported.
}

TEST_CASE_METHOD(Fixture, "nothing is evicted without need") {
  SECTION("the taint is a milder one") { PutCluster("NoSchedule"); }
  SECTION("the cluster has none") { PutCluster(""); }
  SECTION("the cluster is gone") {}
  Put(Binding());
  const absl::StatusOr<EvictionOutcome> outcome = Look();
  REQUIRE(outcome.ok());
  CHECK_FALSE(outcome->evicted);
  CHECK(server->Requests("PATCH").empty());
}

TEST_CASE_METHOD(Fixture, "a binding that is refused is evicted from nowhere, and has no event") {
  PutCluster();
  kube::Object binding = Binding();
  SECTION("for the namespace of its object") {
    binding.Set({"spec", "resource", "namespace"}, "other");
  }
  SECTION("for the kind of its object") {
    binding.Set({"spec", "resource"}, Json(R"({"apiVersion": "v1", "kind": "Namespace",
                                               "namespace": "ns", "name": "other"})"));
    binding.EraseAnnotation(api::kAppliedPlacementAnnotation);  // Else an error with an event.
  }
  Put(binding);
  const absl::StatusOr<EvictionOutcome> outcome = Look();
  REQUIRE(outcome.ok());
  CHECK_FALSE(outcome->evicted);
  CHECK(server->Requests("PATCH").empty());
  CHECK(recorded->All().empty());
}

TEST_CASE_METHOD(Fixture, "the placement that was applied decides how long a binding stays") {
  PutCluster();
  kube::Object binding = Binding(kTolerates);
  binding.Set({"spec", "placement"}, Json("{}"));  // Not applied yet.
  Put(binding);
  CHECK(Look()->again == absl::Seconds(60));
  clock.Advance(absl::Seconds(20));
  CHECK(Look()->again == absl::Seconds(40));
  clock.Advance(absl::Seconds(41));
  CHECK(Look()->evicted);
  Put(Binding(kToleratesForEver));
  CHECK(Look()->again == absl::InfiniteDuration());
}

TEST_CASE_METHOD(Fixture, "a binding without an applied placement is an error with an event") {
  PutCluster();
  const std::string placement = GENERATE("", "{");
  Put(Binding(placement));
  const absl::Status failed = Look().status();
  CHECK(absl::StrContains(failed.message(), "policy.karmada.io/applied-placement"));
  const std::vector<std::string> events = recorded->All();
  REQUIRE(events.size() == 2);
  CHECK(absl::StartsWith(events[0],
                         "Warning EvictWorkloadFromClusterFailed ResourceBinding: Evict from "
                         "cluster m1 failed."));
}

TEST_CASE_METHOD(Fixture, "the purge mode is the policy's, else the flag's") {
  PutCluster();
  kube::Object binding = Binding();
  std::string wanted = "Directly";
  SECTION("of the flag") { flags.taint_eviction.purge_mode = "Directly"; }
  SECTION("of the policy") {
    binding.Set({"spec", "failover", "cluster", "purgeMode"}, "Directly");
  }
  SECTION("of a policy that has none") {
    binding.Set({"spec", "failover", "cluster"}, Json(R"({"statePreservation": {"rules": []}})"));
    flags.taint_eviction.purge_mode = "Directly";
    wanted = "Gracefully";
  }
  Put(binding);
  REQUIRE(Look().ok());
  CHECK(Task()["purgeMode"].AsString() == wanted);
}

TEST_CASE_METHOD(Fixture, "the state that a policy preserves goes into the task, with the gate") {
  PutCluster();
  kube::Object binding = Binding();
  binding.Set({"spec", "failover", "cluster"}, Json(R"({"purgeMode": "Directly",
      "statePreservation": {"rules": [{"aliasLabelName": "app/id", "jsonPath": "{.id}"}]}})"));
  Put(binding);
  const bool gate = GENERATE(true, false);
  if (gate) {
    REQUIRE(flags.gates.Set("StatefulFailoverInjection=true").ok());
    CHECK(absl::StrContains(Look().status().message(), "has not yet been collected"));
    binding.Set({"status", "aggregatedStatus"},
                Json(R"([{"clusterName": "m1", "status": {"id": "seven"}}])"));
    Put(binding);
  }
  REQUIRE(Look().ok());
  CHECK(Task()["preservedLabelState"]["app/id"].AsString() == (gate ? "seven" : ""));
}

TEST_CASE_METHOD(Fixture, "a binding that was moved at the same moment is looked at again") {
  PutCluster();
  Put(Binding());
  server->Block("WATCH");
  server->EndWatches(absl::OkStatus());  // From here on the cache does not change.
  kube::Object moved = Binding();
  moved.Set({"spec", "clusters"}, Json(R"([{"name": "m3"}])"));
  server->Put(api::ResourceBindings(), moved);
  CHECK(absl::IsAborted(Look().status()));
  CHECK(Now().spec()["clusters"] == Json(R"([{"name": "m3"}])"));
  CHECK(recorded->All().empty());
  server->Unblock();
}

TEST_CASE_METHOD(Fixture, "a binding that was deleted at the same moment needs no eviction") {
  PutCluster();
  Put(Binding());
  server->FailNext("PATCH", 404, "NotFound");
  const absl::StatusOr<EvictionOutcome> outcome = Look();
  REQUIRE(outcome.ok());
  CHECK_FALSE(outcome->evicted);
  CHECK(outcome->again == absl::InfiniteDuration());
  CHECK(recorded->All().empty());
}

TEST_CASE_METHOD(Fixture, "the registered loop evicts bindings of both scopes, each in its time") {
  REQUIRE(controllers::RegisterTaintManager(Context(), 1).ok());
  PutCluster("NoSchedule");
  Put(Binding());
  PutCached(api::ResourceBindings(), Binding(kTolerates, {"ns", "later"}));
  PutCached(api::ResourceBindings(),
            Binding(absl::StrReplaceAll(kTolerates, {{"60", "59"}}), {"ns", "sooner"}));
  PutCached(api::ResourceBindings(), Binding(kToleratesForEver, {"ns", "never"}));
  PutCached(api::ClusterResourceBindings(), Binding("{}", {"", "role"}));
  Start();
  const auto evicted = [&](const kube::Resource& kind, const kube::ObjectKey& key) {
    return !server->Find(kind, key).Get({"spec", "gracefulEvictionTasks"}).empty();
  };
  PutCluster();
  CHECK(tests::Eventually([&] { return evicted(api::ResourceBindings(), kWeb); }));
  CHECK(tests::Eventually([&] { return evicted(api::ClusterResourceBindings(), {"", "role"}); }));
  clock.Advance(absl::Seconds(59));
  // Once a worker has taken what is due by then, the other binding is still there.
  CHECK(tests::Eventually([&] { return evicted(api::ResourceBindings(), {"ns", "sooner"}); }));
  CHECK_FALSE(evicted(api::ResourceBindings(), {"ns", "later"}));
  CHECK(tests::Eventually([&] {
    clock.Advance(absl::Seconds(1));
    return evicted(api::ResourceBindings(), {"ns", "later"});
  }));
  // A binding that comes while the cluster is tainted is found by the next pass.
  server->Put(api::ResourceBindings(), Binding("{}", {"ns", "new"}));
  CHECK(tests::Eventually([&] {
    clock.Advance(absl::Seconds(1));
    return evicted(api::ResourceBindings(), {"ns", "new"});
  }));
  CHECK_FALSE(evicted(api::ResourceBindings(), {"ns", "never"}));
}

TEST_CASE_METHOD(Fixture, "a taint that goes in time evicts nothing") {
  REQUIRE(controllers::RegisterTaintManager(Context(), 1).ok());
  PutCluster();
  Put(Binding(kTolerates));
  Start();
  metrics::Gauge& waiting = registry.GetGauge(
      "eviction_kind_total", "", {{"member_cluster", "m1"}, {"resource_kind", "ResourceBinding"}});
  REQUIRE(tests::Eventually([&] { return waiting.Value() == 1; }));
  PutCluster("");
  CHECK(tests::Eventually([&] {
    clock.Advance(absl::Seconds(10));
    return waiting.Value() == 0;
  }));
  CHECK(server->Requests("PATCH").empty());
}

}  // namespace
