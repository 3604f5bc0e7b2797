// How eviction tasks end: the assessment of single tasks, and the loop.
#include <catch2/catch.hpp>
#include <optional>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/binding_scope.h"
#include "api/eviction.h"
#include "api/keys.h"
#include "api/resources.h"
#include "controllers/graceful_eviction/graceful_eviction_reconciler.h"
#include "controllers/graceful_eviction/task_assessment.h"
#include "tests/support/loops_fixture.h"

namespace {

using controllers::AssessTasks;
using controllers::TaskAssessment;
using tests::Json;

constexpr absl::Duration kTimeout = absl::Minutes(10);
const absl::Time kNow = kube::ParseTime("2024-05-01T10:00:00Z").value();

// A binding with this spec.clusters and this status.aggregatedStatus, whose scheduler has seen it.
kube::Object Binding(const std::string& tasks, const char* clusters = R"([{"name": "m2"}])",
                     const char* items = R"([{"clusterName": "m2", "health": "Unhealthy"}])") {
  return tests::Parse(absl::StrCat(
      R"({"metadata": {"generation": 3}, "spec": {"clusters": )", clusters,
      R"(, "gracefulEvictionTasks": )", tasks,
      R"(}, "status": {"schedulerObservedGeneration": 3, "aggregatedStatus": )", items, "}}"));
}

std::string Task(const std::string& rest) {
  return absl::StrCat(R"({"fromCluster": "m1", "producer": "p", "reason": "r")", rest, "}");
}

// A task that is as old as this.
std::string Old(absl::Duration age, const std::string& rest = "") {
  return Task(
      absl::StrCat(R"(, "creationTimestamp": ")", kube::FormatTime(kNow - age), "\"", rest));
}

TaskAssessment Assess(const kube::Object& binding, bool keeps_away = false) {
  return AssessTasks(binding, kNow, kTimeout, [&](absl::string_view) { return keeps_away; });
}

bool Ends(const std::string& task) {
  const TaskAssessment assessment = Assess(Binding(absl::StrCat("[", task, "]")));
  CHECK(assessment.kept.size() + assessment.evicted.size() == 1);
  return assessment.kept.empty();
}

}  // namespace

TEST_CASE("a new task gets its time and stays, even if it could end") {
  const TaskAssessment assessment =
      Assess(Binding(absl::StrCat("[", Task(R"(, "gracePeriodSeconds": 0, "unknown": 1)"), "]"),
                     R"([{"name": "m2"}])", R"([{"clusterName": "m2", "health": "Healthy"}])"));
  CHECK(assessment.kept ==
        Json(absl::StrCat(
            "[", Old(absl::ZeroDuration(), R"(, "gracePeriodSeconds": 0, "unknown": 1)"), "]")));
  CHECK(assessment.evicted.empty());
  CHECK(assessment.next == absl::ZeroDuration());
}

TEST_CASE("a task ends with its own grace period, else with the timeout") {
  CHECK_FALSE(Ends(Old(absl::Minutes(10) - absl::Seconds(1))));
  CHECK(Ends(Old(absl::Minutes(10))));
  CHECK(Ends(Old(absl::Seconds(60), R"(, "gracePeriodSeconds": 60)")));
  CHECK_FALSE(Ends(Old(absl::Minutes(11), R"(, "gracePeriodSeconds": 3600)")));
  CHECK(Ends(Old(absl::Seconds(1), R"(, "gracePeriodSeconds": 0)")));
}

TEST_CASE("suppressDeletion alone decides when it is set") {
  CHECK_FALSE(Ends(Old(absl::Hours(1), R"(, "suppressDeletion": true)")));
  CHECK(Ends(Old(absl::Seconds(1), R"(, "suppressDeletion": false)")));
  CHECK_FALSE(Ends(Task(R"(, "suppressDeletion": false)")));
  CHECK_FALSE(
      Assess(Binding(absl::StrCat("[", Old(absl::Hours(1), R"(, "suppressDeletion": true)"), "]")))
          .next.has_value());
}

TEST_CASE("a task ends when the workload is healthy in all clusters of the present placement") {
  const std::string tasks = absl::StrCat("[", Old(absl::Seconds(5)), "]");
  const auto ends = [&](const char* clusters, const char* items, int64_t observed = 3) {
    kube::Object binding = Binding(tasks, clusters, items);
    binding.Set({"status", "schedulerObservedGeneration"}, observed);
    return !Assess(binding).evicted.empty();
  };
  const char* both = R"([{"name": "m2"}, {"name": "m3"}])";
  const char* healthy_in_m2 = R"([{"clusterName": "m1", "health": "Unhealthy"},
                                  {"clusterName": "m2", "health": "Healthy"}])";
  const char* healthy_in_both = R"([{"clusterName": "m2", "health": "Healthy"},
                                    {"clusterName": "m3", "health": "Healthy"}])";
  CHECK(ends(R"([{"name": "m2"}])", healthy_in_m2));
  CHECK_FALSE(ends(R"([{"name": "m2"}])", healthy_in_m2, 2));
  CHECK_FALSE(ends(both, healthy_in_m2));
  CHECK(ends(both, healthy_in_both));
  CHECK_FALSE(ends(both, R"([{"clusterName": "m2", "health": "Healthy"},
                             {"clusterName": "m3", "health": "Unknown"}])"));
}

TEST_CASE("with no cluster at all a task ends only if the scheduler meant it") {
  kube::Object binding = Binding(absl::StrCat("[", Old(absl::Seconds(5)), "]"), "[]", "[]");
  CHECK(Assess(binding).evicted.empty());
  binding.Set({"status", "conditions"}, Json(R"([{"type": "Scheduled", "status": "False"}])"));
  CHECK(Assess(binding).evicted.empty());
  binding.Set({"status", "conditions"}, Json(R"([{"type": "Scheduled", "status": "True"}])"));
  CHECK(Assess(binding).evicted.size() == 1);
}

TEST_CASE("the next look is due when the first of the tasks times out") {
  const TaskAssessment assessment = Assess(Binding(absl::StrCat(
      "[", Old(absl::Minutes(4)), ",", Old(absl::Minutes(1), R"(, "gracePeriodSeconds": 120)"), ",",
      Old(absl::Hours(1), R"(, "suppressDeletion": true)"), "]")));
  CHECK(assessment.kept.size() == 3);
  CHECK(assessment.next == absl::Minutes(1));
  CHECK_FALSE(Assess(Binding("[]")).next.has_value());
}

TEST_CASE(
    "a task of the taint manager stays to keep the workload away, as long as that is needed") {
  const std::string of_manager = absl::StrCat(
      R"({"fromCluster": "m1", "purgeMode": "Gracefully", "reason": "TaintUntolerated",
          "producer": "TaintManager", "preservedLabelState": {"l": "v"}, "creationTimestamp": ")",
      kube::FormatTime(kNow - absl::Minutes(10)), "\"");
  TaskAssessment assessment = Assess(Binding(absl::StrCat("[", of_manager, "}]")), true);
  CHECK(assessment.evicted == std::vector<std::string>{"m1"});
  CHECK_FALSE(assessment.next.has_value());
  REQUIRE(assessment.kept.size() == 1);
  const json::Value keeping = assessment.kept.At(0);
  CHECK(api::KeepsAway(keeping));
  CHECK_FALSE(keeping.Has("preservedLabelState"));

  const kube::Object later = Binding(json::Write(assessment.kept));
  assessment = Assess(later, true);
  CHECK(assessment.evicted.empty());
  CHECK(assessment.kept.At(0) == keeping);
  CHECK_FALSE(assessment.next.has_value());
  assessment = Assess(later, false);
  CHECK(assessment.evicted.empty());
  CHECK(assessment.kept.empty());

  // Those of others end, and so does one that a user has ended.
  CHECK(Assess(Binding(absl::StrCat("[", Old(absl::Minutes(10)), "]")), true).kept.empty());
  CHECK(Assess(Binding(absl::StrCat("[", of_manager, R"(, "suppressDeletion": false}])")), true)
            .kept.empty());
}

TEST_CASE("a task that only keeps the workload away has no effect on Works") {
  const std::string mode = GENERATE("Gracefully", "Directly");
  json::Value task = Json(absl::StrCat(R"({"fromCluster": "m1", "purgeMode": ")", mode, "\"}"));
  task.Set("message", api::kKeepsAwayMessage);
  const kube::Object binding = Binding(absl::StrCat("[", json::Write(task), "]"));
  CHECK(api::BindingView(binding).ExpectedClusters() == std::set<std::string>{"m2"});
  CHECK(api::BindingView(binding).ClustersPurgedAtOnce().empty());
}

namespace {

template <class Scope>
struct Fixture : tests::LoopsFixture {
  const kube::ObjectKey key = {Scope::kNamespaced ? "ns" : "", "web-deployment"};
  std::optional<controllers::GracefulEvictionReconciler<Scope>> reconciler;

  Fixture() {
    Sync({Scope::Bindings(), api::Clusters()});
    kube::Object binding = Binding(absl::StrCat("[", Task(""), "]"));
    kube::Object named = kube::Object::Make(Scope::Bindings().gvk, key);
    named.Set({"spec"}, binding.spec());
    named.Set({"status"}, binding.status());
    named.Set({"spec", "resource"},
              Json(R"({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"})"));
    if (Scope::kNamespaced) named.Set({"spec", "resource", "namespace"}, key.ns);
    PutCached(Scope::Bindings(), named);
    Restart();
  }
  void Restart() {
    using Options = typename controllers::GracefulEvictionReconciler<Scope>::Options;
    reconciler.emplace(manager ? *manager : Make(), Options{.timeout = kTimeout});
  }
  kube::Object Now() const { return server->Find(Scope::Bindings(), key); }
  json::Value Tasks() const { return Now().Get({"spec", "gracefulEvictionTasks"}); }
  absl::StatusOr<kube::Action> Reconcile() { return reconciler->Reconcile({.key = key}, {}); }
  void Follow() { REQUIRE(Shows(Scope::Bindings(), Now())); }
};

using Cluster = Fixture<api::scope::Cluster>;
using Namespaced = Fixture<api::scope::Namespaced>;

}  // namespace

TEMPLATE_TEST_CASE("a task is stamped, times out after a restart, and both objects show its end",
                   "", Cluster, Namespaced) {
  TestType f;
  absl::StatusOr<kube::Action> action = f.Reconcile();
  REQUIRE(action.ok());
  CHECK(action->delay() <= kTimeout);
  REQUIRE(f.Tasks().size() == 1);
  CHECK(f.Tasks().At(0)["creationTimestamp"].AsString() == kube::FormatTime(f.clock.Now()));
  CHECK(absl::StrContains(f.server->last_body(), "resourceVersion"));
  f.Follow();

  f.clock.Advance(kTimeout - absl::Seconds(2));
  f.Restart();
  action = f.Reconcile();
  REQUIRE(action.ok());
  CHECK(action->kind() == kube::Action::Kind::kAfter);
  CHECK(action->delay() <= absl::Seconds(2));
  CHECK(f.server->Requests("PATCH").size() == 1);
  CHECK(f.recorded->All().empty());

  f.clock.Advance(absl::Seconds(2));
  action = f.Reconcile();
  REQUIRE(action.ok());
  CHECK(action->kind() == kube::Action::Kind::kDone);
  CHECK(f.Tasks().empty());
  const std::vector<std::string> events = f.recorded->All();
  REQUIRE(events.size() == 2);
  CHECK(absl::StrContains(events[0], "Normal EvictWorkloadFromClusterSucceed"));
  CHECK(absl::StrContains(events[1], "Deployment: Evict from cluster m1 succeed."));
}

TEST_CASE_METHOD(Namespaced, "a task that changed meanwhile is not ended on the older state") {
  REQUIRE(Reconcile().ok());
  Follow();
  server->Block("WATCH");
  server->EndWatches(absl::UnavailableError("cut off"));
  kube::Object edited = Now();
  edited.Set({"spec", "gracefulEvictionTasks"},
             Json(absl::StrCat("[", Task(R"(, "suppressDeletion": true)"), "]")));
  server->Put(api::ResourceBindings(), edited);
  clock.Advance(kTimeout);
  CHECK(absl::IsAborted(Reconcile().status()));
  CHECK(Tasks().size() == 1);
  CHECK(recorded->All().empty());
  server->Unblock();
}

// A workload whose toleration of m1's taint is over, with a task that has ended.
struct Untolerated : Namespaced {
  const kube::Object untainted = kube::Object::Make(api::Clusters().gvk, {"", "m1"});

  Untolerated() {
    kube::Object cluster = untainted;
    cluster.Set({"spec", "taints"}, Json(R"([{"key": "down", "effect": "NoExecute",
                                             "timeAdded": "2000-01-01T00:00:00Z"}])"));
    PutCached(api::Clusters(), cluster);
    PutTask("");
    REQUIRE(flags.gates.Set("Failover=true").ok());
    flags.taint_eviction.no_execute = true;
  }
  void PutTask(const std::string& message) {
    kube::Object binding = Now();
    json::Value task = Json(R"({"fromCluster": "m1", "reason": "TaintUntolerated",
        "producer": "TaintManager", "creationTimestamp": "2000-01-01T00:00:00Z"})");
    if (!message.empty()) task.Set("message", message);
    binding.Set({"spec", "gracefulEvictionTasks"}, json::Value::Array({std::move(task)}));
    binding.SetAnnotation(api::kAppliedPlacementAnnotation,
                          R"({"clusterTolerations": [
        {"key": "down", "operator": "Exists", "tolerationSeconds": 1}]})");
    PutCached(api::ResourceBindings(), binding);
  }
  void Run() {
    REQUIRE(controllers::RegisterGracefulEviction<api::scope::Namespaced>(Context(), 1).ok());
    Start();
  }
};

TEST_CASE_METHOD(Untolerated, "the registered loop keeps a workload away until the taint goes") {
  Run();
  CHECK(tests::Eventually([&] { return Tasks().size() == 1 && api::KeepsAway(Tasks().At(0)); }));
  PutCached(api::Clusters(), untainted);
  CHECK(tests::Eventually([&] { return Tasks().empty(); }));
  CHECK(recorded->All().size() == 2);
}

TEST_CASE_METHOD(Untolerated, "nothing is kept away when the taint manager evicts nothing") {
  const bool stayed = GENERATE(false, true);  // While the taint manager evicted.
  SECTION("without the flag") { flags.taint_eviction.no_execute = false; }
  SECTION("without the taint manager") { flags.taint_eviction.manager = false; }
  SECTION("without the gate") { REQUIRE(flags.gates.Set("Failover=false").ok()); }
  SECTION("without the controller") { flags.controllers = {"*", "-cluster"}; }
  PutTask(stayed ? api::kKeepsAwayMessage : "");
  Run();
  CHECK(tests::Eventually([&] { return Tasks().empty(); }));
}

TEST_CASE_METHOD(Namespaced, "a binding that is gone or being deleted is left alone") {
  kube::Object deleting = Now();
  deleting.Set({"metadata", "deletionTimestamp"}, "2024-05-01T10:00:00Z");
  PutCached(api::ResourceBindings(), deleting);
  CHECK(Reconcile().ok());
  CHECK(reconciler->Reconcile({.key = {"ns", "gone"}}, {}).ok());
  CHECK(server->Requests("PATCH").empty());
}
