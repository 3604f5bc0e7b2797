// When a workload that stays unhealthy leaves its cluster, and with what task.
#include "controllers/application_failover/application_failover_reconciler.h"

#include <catch2/catch.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/binding_scope.h"
#include "api/unhealthy_since.h"
#include "controllers/application_failover/failover_eviction.h"
#include "tests/support/loops_fixture.h"
#include "tests/support/scripted_interpreter.h"

namespace {

using api::UnhealthySince;
using config::FeatureGates;
using tests::Json;
using tests::kDeployments;

constexpr char kSpec[] = R"({
    "resource": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "ns", "name": "web"},
    "propagateDeps": true, "clusters": [{"name": "m1", "replicas": 2}, {"name": "m2"}],
    "failover": {"application": {"decisionConditions": {"tolerationSeconds": 60},
                                 "purgeMode": "Gracefully", "gracePeriodSeconds": 600}}})";
constexpr char kUnhealthyInM1[] = R"([
    {"clusterName": "m1", "health": "Unhealthy", "status": {"id": "a1"}},
    {"clusterName": "m2", "health": "Healthy"}])";

kube::Object WithFailover(const std::string& failover) {
  kube::Object binding;
  binding.Set({"spec"}, Json(kSpec));
  binding.Set({"spec", "failover", "application"}, Json(failover));
  binding.Set({"status", "aggregatedStatus"}, Json(kUnhealthyInM1));
  return binding;
}

FeatureGates GatesWith(const char* text) {
  FeatureGates gates;
  REQUIRE(gates.Set(text).ok());
  return gates;
}

}  // namespace

TEST_CASE("the task has the policy's purge mode, and what belongs to it") {
  const auto eviction = [](const std::string& failover) {
    return controllers::FailoverEviction(WithFailover(failover), "m1", "me", {}).value();
  };
  const controllers::Eviction graceful =
      eviction(R"({"purgeMode": "Gracefully", "gracePeriodSeconds": 30})");
  CHECK(graceful.purge_mode == "Gracefully");
  CHECK(graceful.reason == "ApplicationFailure");
  CHECK(graceful.producer == "me");
  CHECK(graceful.grace_period_seconds == 30);
  CHECK_FALSE(graceful.suppress_deletion.has_value());
  CHECK(eviction(R"({"purgeMode": "Graciously", "gracePeriodSeconds": 30})").grace_period_seconds ==
        30);
  CHECK_FALSE(eviction(R"({"purgeMode": "Gracefully"})").grace_period_seconds.has_value());

  const controllers::Eviction never =
      eviction(R"({"purgeMode": "Never", "gracePeriodSeconds": 30})");
  CHECK(never.suppress_deletion == true);
  CHECK_FALSE(never.grace_period_seconds.has_value());
  for (const char* mode : {"Directly", "Immediately"}) {
    const controllers::Eviction direct =
        eviction(absl::StrCat(R"({"purgeMode": ")", mode, R"(", "gracePeriodSeconds": 30})"));
    CHECK(direct.purge_mode == mode);
    CHECK_FALSE(direct.suppress_deletion.has_value());
    CHECK_FALSE(direct.grace_period_seconds.has_value());
  }
}

TEST_CASE("gates decide about graceful modes and about the preserved state") {
  const kube::Object graceful = WithFailover(R"({"purgeMode": "Gracefully"})");
  const absl::Status refused =
      controllers::FailoverEviction(graceful, "m1", "me", GatesWith("GracefulEviction=false"))
          .status();
  CHECK(refused.message() ==
        "GracefulEviction featureGate must be enabled when purgeMode is Gracefully");

  const kube::Object stateful = WithFailover(R"({"purgeMode": "Directly", "statePreservation":
      {"rules": [{"aliasLabelName": "example.io/id", "jsonPath": "{.id}"}]}})");
  CHECK(controllers::FailoverEviction(stateful, "m1", "me", {})->preserved_label_state.empty());
  const FeatureGates on = GatesWith("StatefulFailoverInjection=true");
  const auto eviction = controllers::FailoverEviction(stateful, "m1", "me", on);
  REQUIRE(eviction.ok());
  CHECK(eviction->preserved_label_state == controllers::LabelState{{"example.io/id", "a1"}});
  CHECK(eviction->clusters_before_failover == std::vector<std::string>{"m1", "m2"});
  CHECK_FALSE(controllers::FailoverEviction(stateful, "m2", "me", on).ok());
}

TEST_CASE("the toleration is 300 seconds where the binding has none") {
  CHECK(controllers::TolerationOf(WithFailover("{}")) == absl::Seconds(300));
  CHECK(controllers::TolerationOf(WithFailover(
            R"({"decisionConditions": {"tolerationSeconds": 0}})")) == absl::ZeroDuration());
}

namespace {

template <class Scope>
struct Fixture : tests::LoopsFixture {
  const kube::ObjectKey key = {Scope::kNamespaced ? "ns" : "", "web-deployment"};
  tests::ScriptedInterpreter scripted;
  std::optional<controllers::ApplicationFailoverReconciler<Scope>> reconciler;

  Fixture() {
    scripted.Enable(interpreter::Operation::kInterpretHealth);
    scripted.healthy = false;
    Sync({Scope::Bindings()});
    kube::Object binding = kube::Object::Make(Scope::Bindings().gvk, key);
    binding.Set({"spec"}, Json(kSpec));
    binding.Set({"status", "aggregatedStatus"}, Json(kUnhealthyInM1));
    PutCached(Scope::Bindings(), binding);
    HaveWebIn("m1");
    Restart();
  }
  void HaveWebIn(const std::string& cluster) {
    kube::Object web = kube::Object::Make(kDeployments.gvk, {"ns", "web"});
    web.SetLabel(api::kManagedLabel, api::kManagedValue);
    member(cluster).Put(kDeployments, web);
  }
  void Restart() {
    kube::Manager& used = manager ? *manager : Make();
    reconciler.emplace(typename controllers::ApplicationFailoverReconciler<Scope>::Deps{
        used, objects, scripted, flags.gates});
  }
  kube::Object Now() const { return server->Find(Scope::Bindings(), key); }
  // Changes the binding on the server; the cache follows.
  void Edit(const std::function<void(kube::Object&)>& change) {
    kube::Object edited = Now();
    change(edited);
    PutCached(Scope::Bindings(), edited);
  }
  absl::StatusOr<kube::Action> Reconcile() {
    absl::StatusOr<kube::Action> action = reconciler->Reconcile({.key = key}, {});
    REQUIRE(Shows(Scope::Bindings(), Now()));
    return action;
  }
  json::Value Tasks() const { return Now().Get({"spec", "gracefulEvictionTasks"}); }
  size_t Writes() const { return server->Requests("PATCH").size(); }
};

using Cluster = Fixture<api::scope::Cluster>;
using Namespaced = Fixture<api::scope::Namespaced>;

}  // namespace

TEMPLATE_TEST_CASE("an unhealthy workload is evicted after its toleration, whoever is there then",
                   "", Cluster, Namespaced) {
  TestType f;
  absl::StatusOr<kube::Action> action = f.Reconcile();
  REQUIRE(action.ok());
  CHECK(action->delay() >= absl::Seconds(60));
  CHECK(action->delay() <= absl::Seconds(61));
  CHECK(UnhealthySince(f.Now(), "m1").has_value());
  CHECK(f.Writes() == 1);

  f.clock.Advance(absl::Seconds(40));
  f.Restart();
  action = f.Reconcile();
  REQUIRE(action.ok());
  CHECK(action->delay() <= absl::Seconds(21));
  CHECK(f.Writes() == 1);

  f.clock.Advance(absl::Seconds(21));
  f.Restart();
  REQUIRE(f.Reconcile().ok());
  REQUIRE(f.Tasks().size() == 1);
  const json::Value& task = f.Tasks().At(0);
  CHECK(task["fromCluster"].AsString() == "m1");
  CHECK(task["replicas"].AsInt() == 2);
  CHECK(task["gracePeriodSeconds"].AsInt() == 600);
  CHECK(absl::EndsWith(task["producer"].AsString(),
                       "resource-binding-application-failover-controller"));
  CHECK(f.Now().spec()["clusters"] == Json(R"([{"name": "m2"}])"));

  // Neither the condition of a cluster that is no target any more, nor another write.
  REQUIRE(f.Reconcile().ok());
  CHECK_FALSE(UnhealthySince(f.Now(), "m1").has_value());
  const size_t writes = f.Writes();
  REQUIRE(f.Reconcile().ok());
  CHECK(f.Writes() == writes);
  CHECK(f.recorded->All().empty());
}

TEST_CASE_METHOD(Namespaced, "a workload that has recovered is not evicted for an older status") {
  REQUIRE(Reconcile().ok());
  clock.Advance(absl::Hours(1));
  scripted.healthy = true;
  Restart();
  const absl::StatusOr<kube::Action> action = Reconcile();
  REQUIRE(action.ok());
  CHECK(action->kind() == kube::Action::Kind::kAfter);
  CHECK(Tasks().empty());

  Edit([](kube::Object& binding) {
    binding.Set({"status", "aggregatedStatus"},
                Json(R"([{"clusterName": "m1", "health": "Healthy"}])"));
  });
  REQUIRE(Reconcile().ok());
  CHECK_FALSE(UnhealthySince(Now(), "m1").has_value());
}

TEST_CASE_METHOD(
    Namespaced,
    "a workload whose health is unknown now and then is evicted in time, but not while "
    "it is unknown") {
  const auto report = [&](const char* items) {
    Edit([&](kube::Object& binding) { binding.Set({"status", "aggregatedStatus"}, Json(items)); });
  };
  const bool answers = GENERATE(true, false);  // Else what this process has seen decides.
  if (!answers) scripted.healthy = absl::UnavailableError("no answer");
  REQUIRE(Reconcile().ok());
  const auto since = UnhealthySince(Now(), "m1");
  REQUIRE(since.has_value());
  clock.Advance(absl::Seconds(40));
  report(R"([{"clusterName": "m1", "health": "Unknown"}])");
  REQUIRE(Reconcile().ok());
  clock.Advance(absl::Seconds(40));
  if (answers) Restart();
  REQUIRE(Reconcile().ok());
  CHECK(UnhealthySince(Now(), "m1") == since);
  CHECK(Tasks().empty());
  report(kUnhealthyInM1);
  REQUIRE(Reconcile().ok());
  CHECK(Tasks().size() == 1);
}

TEST_CASE_METHOD(Namespaced, "without the member's answer the status counts after the toleration") {
  REQUIRE(Reconcile().ok());
  clock.Advance(absl::Hours(1));
  scripted.healthy = absl::UnavailableError("no answer");
  Restart();
  absl::StatusOr<kube::Action> action = Reconcile();
  REQUIRE(action.ok());
  CHECK(action->delay() == absl::Seconds(60));
  CHECK(Tasks().empty());
  clock.Advance(absl::Seconds(60));
  REQUIRE(Reconcile().ok());
  CHECK(Tasks().size() == 1);
}

TEST_CASE_METHOD(Namespaced, "an eviction that is not possible is reported, others go on") {
  HaveWebIn("m2");
  flags.gates = GatesWith("StatefulFailoverInjection=true");
  Restart();
  Edit([](kube::Object& binding) {
    binding.Set({"spec", "failover", "application"}, Json(R"({"purgeMode": "Directly",
        "decisionConditions": {"tolerationSeconds": 0},
        "statePreservation": {"rules": [{"aliasLabelName": "id", "jsonPath": "{.id}"}]}})"));
    binding.Set({"status", "aggregatedStatus"},
                Json(R"([{"clusterName": "m1", "health": "Unhealthy"},
                         {"clusterName": "m2", "health": "Unhealthy", "status": {"id": "b"}}])"));
  });
  const absl::Status failed = Reconcile().status();
  CHECK(base::IsTerminal(failed));
  CHECK(failed.message() ==
        "evicting from cluster m1: the application status has not yet been collected from "
        "Cluster(m1)");
  REQUIRE(Tasks().size() == 1);
  CHECK(Tasks().At(0)["preservedLabelState"] == Json(R"({"id": "b"})"));
  CHECK(Tasks().At(0)["clustersBeforeFailover"] == Json(R"(["m1", "m2"])"));
  const std::vector<std::string> events = recorded->All();
  REQUIRE(events.size() == 2);
  CHECK(events[0] ==
        "Warning EvictWorkloadFromClusterFailed ResourceBinding: Evict from cluster m1 failed. the "
        "application status has not yet been collected from Cluster(m1)");
}

TEST_CASE_METHOD(Namespaced, "a refused write is reported and tried again") {
  REQUIRE(Reconcile().ok());
  clock.Advance(absl::Seconds(61));
  server->FailNext("PATCH", 403, "Forbidden");
  CHECK_FALSE(Reconcile().ok());
  CHECK(recorded->All().size() == 2);
  REQUIRE(Reconcile().ok());
  CHECK(Tasks().size() == 1);
}

TEST_CASE_METHOD(Namespaced, "bindings that do not ask, or may not, are left alone") {
  const auto is_evicted = [&](const std::function<void(kube::Object&)>& change) {
    Edit(change);
    REQUIRE(Reconcile().ok());
    clock.Advance(absl::Hours(1));
    REQUIRE(Reconcile().ok());
    return Now().spec()["clusters"].size() < 2;
  };
  CHECK_FALSE(is_evicted([](kube::Object& b) { b.Erase({"spec", "propagateDeps"}); }));
  CHECK_FALSE(is_evicted([](kube::Object& b) {
    b.Set({"spec", "propagateDeps"}, true);
    b.Set({"spec", "gracefulEvictionTasks"}, Json(R"([{"fromCluster": "m1"}])"));
  }));
  CHECK_FALSE(is_evicted([](kube::Object& b) { b.Erase({"spec", "failover"}); }));
  CHECK_FALSE(UnhealthySince(Now(), "m1").has_value());
  scripted.Disable(interpreter::Operation::kInterpretHealth);
  CHECK_FALSE(is_evicted([](kube::Object& b) { b.Set({"spec"}, Json(kSpec)); }));
  scripted.Enable(interpreter::Operation::kInterpretHealth);
  REQUIRE(Reconcile().ok());
  CHECK(Now().spec()["clusters"].size() == 1);
}
