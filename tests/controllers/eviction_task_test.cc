#include "controllers/eviction/eviction_task.h"

#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"
#include "api/preserved_state.h"
#include "tests/support/recording_events.h"

namespace {

using controllers::Evict;
using controllers::Eviction;
using controllers::LabelState;
using controllers::PreservedLabelState;

kube::Object ObjectOf(const char* text) { return kube::Object(json::Parse(text).value()); }

constexpr char kBinding[] = R"({"apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding",
    "metadata": {"name": "web-deployment", "namespace": "default", "uid": "u"},
    "spec": {"resource": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "default",
                          "name": "web", "uid": "t"},
             "clusters": [{"name": "m1", "replicas": 2}, {"name": "m2"}]}})";

}  // namespace

TEST_CASE(
    "an evicted cluster leaves spec.clusters and gets a task with everything that was asked") {
  kube::Object binding = ObjectOf(kBinding);
  CHECK(Evict(binding, {.cluster = "m1",
                        .purge_mode = api::kPurgeDirectly,
                        .reason = api::reason::kApplicationFailure,
                        .message = "why",
                        .producer = "me",
                        .grace_period_seconds = 0,
                        .suppress_deletion = true,
                        .preserved_label_state = {{"a", "1"}},
                        .clusters_before_failover = {"m1", "m2"}}));
  const json::Value want = json::Parse(R"([{"fromCluster": "m1", "purgeMode": "Directly",
      "replicas": 2, "reason": "ApplicationFailure", "message": "why", "producer": "me",
      "gracePeriodSeconds": 0, "suppressDeletion": true, "preservedLabelState": {"a": "1"},
      "clustersBeforeFailover": ["m1", "m2"]}])")
                               .value();
  CHECK(binding.spec()["gracefulEvictionTasks"] == want);
  CHECK(binding.spec()["clusters"] == json::Parse(R"([{"name": "m2"}])").value());

  // The last cluster, without replicas: the list goes, and the task names no replicas.
  CHECK(Evict(binding, {.cluster = "m2", .reason = "r", .producer = "p"}));
  CHECK_FALSE(binding.spec().Has("clusters"));
  CHECK(binding.spec()["gracefulEvictionTasks"].At(1) ==
        json::Parse(R"({"fromCluster": "m2", "reason": "r", "producer": "p"})").value());
}

TEST_CASE("eviction tasks have purge modes that every server accepts, also the earlier ones") {
  kube::Object binding = ObjectOf(kBinding);
  binding.Set(
      {"spec", "gracefulEvictionTasks"},
      json::Parse(R"([{"fromCluster": "m0", "purgeMode": "Graciously", "later": 1}])").value());
  CHECK(Evict(binding, {.cluster = "m1", .purge_mode = api::kPurgeImmediately}));
  CHECK(Evict(binding, {.cluster = "m2", .purge_mode = api::kPurgeNever}));
  const json::Value& tasks = binding.spec()["gracefulEvictionTasks"];
  CHECK(tasks.At(0) ==
        json::Parse(R"({"fromCluster": "m0", "purgeMode": "Gracefully", "later": 1})").value());
  CHECK(tasks.At(1)["purgeMode"].AsString() == "Directly");
  CHECK(tasks.At(2)["purgeMode"].AsString() == "Never");
}

TEST_CASE("a cluster with a task gets no second one, and one that is no target gets none") {
  kube::Object binding = ObjectOf(kBinding);
  CHECK_FALSE(Evict(binding, {.cluster = "m3", .reason = "r", .producer = "p"}));
  CHECK(binding == ObjectOf(kBinding));

  binding.Set({"spec", "gracefulEvictionTasks"},
              json::Parse(R"([{"fromCluster": "m1", "reason": "old", "producer": "p"}])").value());
  CHECK(Evict(binding, {.cluster = "m1", .reason = "new", .producer = "p"}));
  CHECK(binding.spec()["gracefulEvictionTasks"].size() == 1);
  CHECK(binding.spec()["gracefulEvictionTasks"].At(0)["reason"].AsString() == "old");
  CHECK(binding.spec()["clusters"].size() == 1);
}

TEST_CASE("the preserved state is read from the status that the evicted cluster reported") {
  kube::Object binding = ObjectOf(kBinding);
  binding.Set({"status", "aggregatedStatus"}, json::Parse(R"([
      {"clusterName": "m1", "status": {"jobStatus": {"jobID": "abc", "number": 1234567}}},
      {"clusterName": "m2"}])")
                                                  .value());
  const api::BindingView view(binding);
  const json::Value rules = json::Parse(R"({"rules": [
      {"aliasLabelName": "example.io/id", "jsonPath": "{ .jobStatus.jobID }"},
      {"aliasLabelName": "number", "jsonPath": "n{.jobStatus.number}"}]})")
                                .value();
  CHECK(PreservedLabelState(rules, view, "m1").value() ==
        LabelState{{"example.io/id", "abc"}, {"number", "n1234567"}});
  CHECK(PreservedLabelState(nullptr, view, "m2").value().empty());

  for (const char* without_status : {"m2", "m3"}) {
    const absl::Status missing = PreservedLabelState(rules, view, without_status).status();
    CHECK(missing.code() == absl::StatusCode::kFailedPrecondition);
    CHECK(missing.message() ==
          absl::StrCat("the application status has not yet been collected from Cluster(",
                       without_status, ")"));
  }
  const auto with_path = [](const char* path) {
    return json::Value::Object({{"rules", json::Value::Array({json::Value::Object(
                                              {{"aliasLabelName", "a"}, {"jsonPath", path}})})}});
  };
  const absl::Status absent = PreservedLabelState(with_path("{.gone}"), view, "m1").status();
  CHECK(absent.code() == absl::StatusCode::kFailedPrecondition);
  CHECK(absent.message() ==
        "failed to execute jsonpath \"{.gone}\" on the status of Cluster(m1): gone is not found");
  CHECK(PreservedLabelState(with_path("{.a"), view, "m1").status().code() ==
        absl::StatusCode::kInvalidArgument);
}

TEST_CASE(
    "the state of an application that was not healthy since its last move is the earlier one") {
  const json::Value rules =
      json::Parse(R"({"rules": [{"aliasLabelName": "id", "jsonPath": "{.id}"}]})").value();
  const auto state = [&](const char* task, const char* health, bool has_ended) {
    kube::Object binding = ObjectOf(kBinding);
    binding.Set({"spec", "clusters"}, json::Parse(R"([{"name": "m2"}])").value());
    const json::Value tasks = json::Parse(absl::StrCat("[", task, "]")).value();
    if (has_ended) {
      binding.Erase({"spec", "gracefulEvictionTasks"});
      api::SetKeptPreservedState(binding,
                                 api::PreservedStateOf(api::EvictionTask::FromJson(tasks.At(0))));
    } else {
      binding.Set({"spec", "gracefulEvictionTasks"}, tasks);
    }
    binding.Set({"status", "aggregatedStatus"},
                json::Parse(absl::StrCat(R"([{"clusterName": "m2", "status": {"id": "new"},
                                              "health": ")",
                                         health, "\"}]"))
                    .value());
    return PreservedLabelState(rules, api::BindingView(binding), "m2").value().at("id");
  };
  const bool has_ended = GENERATE(false, true);
  const char* moved = R"({"fromCluster": "m1", "purgeMode": "Directly",
      "clustersBeforeFailover": ["m1"], "preservedLabelState": {"id": "old"}})";
  CHECK(state(moved, "Unhealthy", has_ended) == "old");
  CHECK(state(moved, "Unknown", has_ended) == "old");
  CHECK(state(moved, "Healthy", has_ended) == "new");
  // What did not go to this cluster, or does not have all that is asked for.
  CHECK(state(R"({"fromCluster": "m1", "purgeMode": "Gracefully",
                  "preservedLabelState": {"id": "old"}})",
              "Unhealthy", has_ended) == "new");
  CHECK(state(R"({"fromCluster": "m1", "purgeMode": "Directly", "clustersBeforeFailover": ["m2"],
                  "preservedLabelState": {"id": "old"}})",
              "Unhealthy", has_ended) == "new");
  CHECK(state(R"({"fromCluster": "m1", "purgeMode": "Directly",
                  "preservedLabelState": {"another": "old"}})",
              "Unhealthy", has_ended) == "new");
  // A task that somebody has kept may be older than the last time at which it was healthy.
  CHECK(state(R"({"fromCluster": "m1", "purgeMode": "Directly", "suppressDeletion": true,
                  "preservedLabelState": {"id": "old"}})",
              "Unhealthy", false) == "new");
}

TEST_CASE("how much all rules of a policy look at together is bounded") {
  json::Value list = json::Value::Array();
  for (int i = 0; i < 5000; ++i) list.Append(i);
  kube::Object binding = ObjectOf(kBinding);
  const json::Value item = json::Value::Object(
      {{"clusterName", "m1"}, {"status", json::Value::Object({{"list", std::move(list)}})}});
  binding.Set({"status", "aggregatedStatus"}, json::Value::Array({item}));
  const json::Value rule =
      json::Value::Object({{"aliasLabelName", "a"}, {"jsonPath", "{.list[?(@==1)]}"}});
  json::Value rules = json::Value::Array({rule});
  const auto state = [&] {
    return PreservedLabelState(json::Value::Object({{"rules", rules}}), api::BindingView(binding),
                               "m1");
  };
  CHECK(state().value() == LabelState{{"a", "1"}});
  for (int i = 0; i < 200; ++i) rules.Append(rule);
  CHECK(state().status().code() == absl::StatusCode::kFailedPrecondition);
}

TEST_CASE("evictions are reported on the binding and on its template") {
  tests::RecordingEvents events;
  kube::EventRecorder recorder(events, "source");
  const kube::Object binding = ObjectOf(kBinding);
  controllers::ReportEvicted(recorder, binding, "m1");
  controllers::ReportEvictionFailed(recorder, binding, "m1", absl::NotFoundError("gone"));
  controllers::ReportEvictionFailed(recorder, binding, "m1", absl::AbortedError("conflict"));
  CHECK(events.All() ==
        std::vector<std::string>{"Normal EvictWorkloadFromClusterSucceed ResourceBinding: "
                                 "Evict from cluster m1 succeed.",
                                 "Normal EvictWorkloadFromClusterSucceed Deployment: "
                                 "Evict from cluster m1 succeed.",
                                 "Warning EvictWorkloadFromClusterFailed ResourceBinding: "
                                 "Evict from cluster m1 failed. gone",
                                 "Warning EvictWorkloadFromClusterFailed Deployment: "
                                 "Evict from cluster m1 failed. gone"});
}
