// How eviction tasks end: the assessment of single tasks, and the loop.
#include <catch2/catch.hpp>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/binding_scope.h"
#include "api/eviction.h"
#include "api/keys.h"
#include "api/preserved_state.h"
#include "api/resources.h"
#include "controllers/graceful_eviction/graceful_eviction_reconciler.h"
#include "controllers/graceful_eviction/left_tainted.h"
#include "controllers/graceful_eviction/register.h"
#include "controllers/graceful_eviction/task_assessment.h"
#include "kube/meta/annotation_limit.h"
#include "tests/support/cost_growth.h"
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

// `tainted`: when the taint was added whose toleration time is over in all clusters.
TaskAssessment Assess(const kube::Object& binding, std::optional<absl::Time> tainted = {}) {
  return AssessTasks(binding, kNow, kTimeout, [&](absl::string_view) {
    return tainted ? std::optional(controllers::TaintTimes{*tainted, *tainted}) : std::nullopt;
  });
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

TEST_CASE("a task that stays has a purge mode that every server accepts") {
  const std::string old = Old(absl::ZeroDuration(), R"(, "purgeMode": "Graciously")");
  CHECK(Assess(Binding(absl::StrCat("[", old, "]"))).kept ==
        Json(absl::StrCat("[", Old(absl::ZeroDuration(), R"(, "purgeMode": "Gracefully")"), "]")));
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

namespace {

const absl::Time kTainted = kNow - absl::Minutes(20);

// A task of the taint manager that times out now, with this at its end.
std::string OfTaintManager(const std::string& rest = "") {
  return absl::StrCat(
      R"([{"fromCluster": "m1", "purgeMode": "Gracefully", "reason": "TaintUntolerated",
           "producer": "TaintManager", "preservedLabelState": {"l": "v"}, "creationTimestamp": ")",
      kube::FormatTime(kNow - kTimeout), "\"", rest, "}]");
}

// Returns a binding with this task that has left m1 before, because of a taint of that time.
kube::Object Returned(const std::string& tasks, absl::Time tainted = kTainted) {
  kube::Object binding = Binding(tasks);
  controllers::SetLeftTaintedClusters(binding, {{"m1", tainted}});
  return binding;
}

}  // namespace

TEST_CASE("the first eviction from a tainted cluster ends as upstream's, and is recorded") {
  const TaskAssessment assessment = Assess(Binding(OfTaintManager()), kTainted);
  CHECK(assessment.evicted == std::vector<std::string>{"m1"});
  CHECK(assessment.kept.empty());
  CHECK(assessment.left_tainted == controllers::LeftTainted{{"m1", kTainted}});

  // As long as the taint is there, and not when another one is.
  CHECK(Assess(Returned("[]"), kTainted).left_tainted == assessment.left_tainted);
  CHECK(Assess(Returned("[]"), std::nullopt).left_tainted.empty());
  CHECK(Assess(Returned("[]"), kTainted + absl::Seconds(1)).left_tainted.empty());
  // Neither what others evict, nor what could not return, is recorded.
  CHECK(Assess(Binding(absl::StrCat("[", Old(kTimeout), "]")), kTainted).left_tainted.empty());
  CHECK(Assess(Binding(OfTaintManager())).left_tainted.empty());
}

TEST_CASE("the task of a workload that has returned stays to keep it away, as long as needed") {
  TaskAssessment assessment = Assess(Returned(OfTaintManager()), kTainted);
  CHECK(assessment.evicted == std::vector<std::string>{"m1"});
  CHECK_FALSE(assessment.next.has_value());
  CHECK(assessment.left_tainted.size() == 1);
  REQUIRE(assessment.kept.size() == 1);
  const json::Value keeping = assessment.kept.At(0);
  CHECK(api::KeepsAway(keeping));
  CHECK_FALSE(keeping.Has("preservedLabelState"));

  const kube::Object later = Returned(json::Write(assessment.kept));
  assessment = Assess(later, kTainted);
  CHECK(assessment.evicted.empty());
  CHECK(assessment.kept.At(0) == keeping);
  CHECK_FALSE(assessment.next.has_value());
  assessment = Assess(later);
  CHECK(assessment.evicted.empty());
  CHECK(assessment.kept.empty());
  CHECK(assessment.left_tainted.empty());

  // With a new taint all begins again. A task that a user has ended ends.
  CHECK(Assess(Returned(OfTaintManager()), kTainted + absl::Seconds(1)).kept.empty());
  CHECK(Assess(Returned(OfTaintManager(R"(, "suppressDeletion": false)")), kTainted).kept.empty());
}

TEST_CASE("the record of left clusters is written once, and read leniently") {
  kube::Object binding = Returned("[]");
  CHECK(binding.Annotation(api::kLeftTaintedClustersAnnotation) ==
        R"({"m1":"2024-05-01T09:40:00Z"})");
  binding.SetAnnotation(api::kLeftTaintedClustersAnnotation, R"( {"m1": "2024-05-01T09:40:00Z"})");
  const kube::Object before = binding;
  controllers::SetLeftTaintedClusters(binding, controllers::LeftTaintedClusters(binding));
  CHECK(binding == before);
  controllers::SetLeftTaintedClusters(binding, {});
  CHECK_FALSE(binding.annotations().Has(api::kLeftTaintedClustersAnnotation));
  for (const char* text : {"", "{", "[1]", R"({"m1": 5})", R"({"m1": "yesterday"})", "null"}) {
    binding.SetAnnotation(api::kLeftTaintedClustersAnnotation, text);
    CHECK(controllers::LeftTaintedClusters(binding).empty());
  }
}

TEST_CASE("the state in a task that times out is kept until the workload is healthy") {
  const std::string rest = R"(, "purgeMode": "Directly", "preservedLabelState": {"id": "7"},
                               "clustersBeforeFailover": ["m1"])";
  const json::Value state =
      Json(R"({"preservedLabelState": {"id": "7"}, "clustersBeforeFailover": ["m1"]})");
  const kube::Object binding = Binding(absl::StrCat("[", Old(kTimeout, rest), "]"));
  CHECK(Assess(binding).kept.empty());
  CHECK(Assess(binding).preserved_state == state);
  CHECK(Assess(Binding(absl::StrCat("[", Old(kTimeout), "]"))).preserved_state.is_null());

  kube::Object ended = Binding("[]");
  api::SetKeptPreservedState(ended, state);
  CHECK(Assess(ended).preserved_state == state);
  ended.Set({"status", "aggregatedStatus"},
            Json(R"([{"clusterName": "m2", "health": "Healthy"}])"));
  CHECK(Assess(ended).preserved_state.is_null());

  // Not that of a task which ends because the workload is healthy, or because a user says so.
  kube::Object healthy = binding;
  healthy.Set({"status"}, ended.status());
  CHECK(Assess(healthy).kept.empty());
  CHECK(Assess(healthy).preserved_state.is_null());
  const std::string by_user = absl::StrCat(rest, R"(, "suppressDeletion": false)");
  CHECK(Assess(Binding(absl::StrCat("[", Old(kTimeout, by_user), "]"))).preserved_state.is_null());
}

TEST_CASE("a preserved state for which annotations have no room is not kept") {
  kube::Object binding = Binding("[]");
  json::Value state = Json(R"({"preservedLabelState": {}})");
  state.Set({"preservedLabelState", "id"}, std::string(kube::kMaxAnnotationBytes, 'x'));
  api::SetKeptPreservedState(binding, state);
  CHECK(binding.annotations().empty());
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

TEST_CASE_METHOD(Namespaced, "of any number of tasks that end, the first clusters are reported") {
  const auto end = [&](int tasks, const std::string& cluster) {
    json::Value ended = json::Value::Array();
    for (int i = 0; i < tasks; ++i) {
      json::Value task = Json(Task(R"(, "suppressDeletion": false)"));
      task.Set("creationTimestamp", kube::FormatTime(clock.Now()));
      task.Set("fromCluster", cluster.empty() ? absl::StrCat("m", i) : cluster);
      ended.Append(std::move(task));
    }
    kube::Object binding = Now();
    binding.Set({"spec", "gracefulEvictionTasks"}, ended);
    PutCached(api::ResourceBindings(), binding);
    REQUIRE(Reconcile().ok());
    CHECK(Tasks().empty());
    return recorded->All().size();
  };
  CHECK(end(50, "m1") == 2);  // On the binding and on the template.
  Follow();
  CHECK(end(5000, "") == 2 + 200);
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

// A workload whose toleration of m1's taint is over, with a task that has ended. It has returned
// there once.
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
    controllers::SetLeftTaintedClusters(binding, {{"m1", kTainted}});
    binding.Set({"spec", "gracefulEvictionTasks"}, json::Value::Array({std::move(task)}));
    binding.SetAnnotation(api::kAppliedPlacementAnnotation,
                          R"({"clusterTolerations": [
        {"key": "down", "operator": "Exists", "tolerationSeconds": 1}]})");
    PutCached(api::ResourceBindings(), binding);
  }
  void Edit(const std::function<void(kube::Object&)>& change) {
    kube::Object binding = Now();
    change(binding);
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
  CHECK(tests::Eventually([&] { return recorded->All().size() == 2; }));
  CHECK_FALSE(Now().annotations().Has(api::kLeftTaintedClustersAnnotation));
}

TEST_CASE_METHOD(Untolerated, "many tasks and tolerations cost no more than their number") {
  reconciler.emplace(
      *manager,
      controllers::GracefulEvictionReconciler<api::scope::Namespaced>::Options{kTimeout, true});
  CHECK(tests::CostOfFourfold(400, [&](int count) {
          PutTask(api::kKeepsAwayMessage);
          kube::Object binding = Now();
          json::Value tasks = json::Value::Array(), tolerations = json::Value::Array();
          for (int i = 0; i < count; ++i) {
            tasks.Append(Tasks().At(0));
            tolerations.Append(Json(R"({"key": "down", "operator": "Exists",
                                        "tolerationSeconds": 1})"));
          }
          binding.Set({"spec", "gracefulEvictionTasks"}, tasks);
          binding.SetAnnotation(
              api::kAppliedPlacementAnnotation,
              json::Write(json::Value::Object({{"clusterTolerations", std::move(tolerations)}})));
          PutCached(api::ResourceBindings(), binding);
          REQUIRE(Reconcile().ok());
          CHECK(Tasks().size() == size_t(count));
        }) < tests::kBarelyLinear);
}

TEST_CASE_METHOD(Untolerated,
                 "a first eviction ends although the taint stays, and its record ends with it") {
  Edit([](kube::Object& binding) { controllers::SetLeftTaintedClusters(binding, {}); });
  Run();
  CHECK(tests::Eventually([&] { return Tasks().empty(); }));
  CHECK(Now().Annotation(api::kLeftTaintedClustersAnnotation) ==
        R"({"m1":"2000-01-01T00:00:00Z"})");
  Follow();
  PutCached(api::Clusters(), untainted);
  CHECK(tests::Eventually(
      [&] { return !Now().annotations().Has(api::kLeftTaintedClustersAnnotation); }));
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

TEST_CASE_METHOD(Namespaced, "a binding that is refused is left alone, and nothing is said of it") {
  kube::Object refused = Now();
  refused.Set(
      {"spec", "gracefulEvictionTasks"},
      Json(absl::StrCat("[", Task(R"(, "creationTimestamp": "2000-01-01T00:00:00Z")"), "]")));
  SECTION("for the namespace of its object") {
    refused.Set({"spec", "resource", "namespace"}, "other");
  }
  SECTION("for the kind of its object") {
    refused.Set({"spec", "resource"}, Json(R"({"apiVersion": "v1", "kind": "Namespace",
                                               "namespace": "ns", "name": "other"})"));
  }
  PutCached(api::ResourceBindings(), refused);
  const absl::StatusOr<kube::Action> action = Reconcile();
  REQUIRE(action.ok());
  CHECK(action->kind() == kube::Action::Kind::kDone);
  CHECK(server->Requests("PATCH").empty());
  CHECK(recorded->All().empty());
}

TEST_CASE_METHOD(Namespaced, "a binding that is gone or being deleted is left alone") {
  kube::Object deleting = Now();
  deleting.Set({"metadata", "deletionTimestamp"}, "2024-05-01T10:00:00Z");
  PutCached(api::ResourceBindings(), deleting);
  CHECK(Reconcile().ok());
  CHECK(reconciler->Reconcile({.key = {"ns", "gone"}}, {}).ok());
  CHECK(server->Requests("PATCH").empty());
}
