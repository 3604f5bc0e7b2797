#include "api/cron_federated_hpa.h"

#include <catch2/catch.hpp>
#include <string>

namespace {

json::Value Json(absl::string_view text) {
  auto value = json::Parse(text);
  INFO(text);
  REQUIRE(value.ok());
  return *std::move(value);
}

absl::Time At(absl::string_view text) { return *kube::ParseTime(text); }

api::CronExecution Execution(absl::string_view scheduled) {
  return {.scheduled = At(scheduled), .executed = At(scheduled) + absl::Seconds(2), .replicas = 3};
}

}  // namespace

TEST_CASE("a rule has the definition's defaults") {
  const api::CronRule rule =
      api::CronRule::FromJson(Json(R"({"name": "up", "schedule": "@daily"})"));
  CHECK(rule.name == "up");
  CHECK(rule.schedule == "@daily");
  CHECK_FALSE(rule.time_zone.has_value());
  CHECK_FALSE(rule.suspend);
  CHECK_FALSE(rule.replicas.has_value());
  CHECK_FALSE(rule.min_replicas.has_value());
  CHECK_FALSE(rule.max_replicas.has_value());
  CHECK(rule.successful_limit == 3);
  CHECK(rule.failed_limit == 3);
}

TEST_CASE("a rule is read") {
  const api::CronRule rule = api::CronRule::FromJson(Json(R"({
      "name": "up", "schedule": "@daily", "timeZone": "", "suspend": true, "targetReplicas": 0,
      "targetMinReplicas": 1, "targetMaxReplicas": 9, "successfulHistoryLimit": 1,
      "failedHistoryLimit": 0})"));
  CHECK(rule.time_zone == "");
  CHECK(rule.suspend);
  CHECK(rule.replicas == 0);
  CHECK(rule.min_replicas == 1);
  CHECK(rule.max_replicas == 9);
  CHECK(rule.successful_limit == 1);
  CHECK(rule.failed_limit == 0);
  CHECK(api::CronRule::FromJson(Json(R"({"failedHistoryLimit": -4})")).failed_limit == 0);
}

TEST_CASE("an execution is written as upstream writes it") {
  CHECK(Execution("2024-01-01T09:00:00Z").ToJson() ==
        Json(R"({"scheduleTime": "2024-01-01T09:00:00Z", "executionTime": "2024-01-01T09:00:02Z",
                 "appliedReplicas": 3})"));
  api::CronExecution bounds = Execution("2024-01-01T09:00:00Z");
  bounds.replicas.reset();
  bounds.min_replicas = 1;
  bounds.max_replicas = 5;
  CHECK(bounds.ToJson() ==
        Json(R"({"scheduleTime": "2024-01-01T09:00:00Z", "executionTime": "2024-01-01T09:00:02Z",
                 "appliedMinReplicas": 1, "appliedMaxReplicas": 5})"));
  bounds.failure = "why";
  CHECK(bounds.ToJson() ==
        Json(R"({"scheduleTime": "2024-01-01T09:00:00Z", "executionTime": "2024-01-01T09:00:02Z",
                 "message": "why"})"));
}

TEST_CASE("executions come first in their list, and the limit drops the oldest") {
  api::CronRule rule;
  rule.successful_limit = 2;
  rule.failed_limit = 0;
  json::Value history = api::NewExecutionHistory("up");
  history.Set("later", "kept");  // A field of a later version.
  for (const char* time :
       {"2024-01-01T09:00:00Z", "2024-01-02T09:00:00Z", "2024-01-03T09:00:00Z"}) {
    api::AddExecution(history, rule, Execution(time));
  }
  CHECK(history["successfulExecutions"].size() == 2);
  const api::ExecutionHistoryView view(history);
  CHECK(view.RuleName() == "up");
  CHECK(view.Records(At("2024-01-03T09:00:00Z")));
  CHECK(view.Records(At("2024-01-02T09:00:00Z")));
  CHECK_FALSE(view.Records(At("2024-01-01T09:00:00Z")));
  CHECK(history["later"].AsString() == "kept");

  api::CronExecution failed = Execution("2024-01-04T09:00:00Z");
  failed.failure = "why";
  api::AddExecution(history, rule, failed);
  CHECK_FALSE(history.Has("failedExecutions"));
  rule.failed_limit = 1;
  api::AddExecution(history, rule, failed);
  CHECK(history["failedExecutions"].size() == 1);
  CHECK(api::ExecutionHistoryView(history).Records(At("2024-01-04T09:00:00Z")));
}

TEST_CASE("the last execution of a rule says whether the rule works") {
  const api::CronRule rule = api::CronRule::FromJson(Json(R"({"name": "up"})"));
  json::Value history = api::NewExecutionHistory("up");
  CHECK_FALSE(api::ExecutionHistoryView(history).LastFailure().has_value());
  api::CronExecution failed = Execution("2024-01-02T09:00:00Z");
  failed.failure = "first";
  api::AddExecution(history, rule, failed);
  CHECK(api::ExecutionHistoryView(history).LastFailure() == "first");
  failed = Execution("2024-01-03T09:00:00Z");
  failed.failure = "second";
  api::AddExecution(history, rule, failed);
  CHECK(api::ExecutionHistoryView(history).LastFailure() == "second");
  api::AddExecution(history, rule, Execution("2024-01-04T09:00:00Z"));
  CHECK_FALSE(api::ExecutionHistoryView(history).LastFailure().has_value());
  // Written by another program, in another zone.
  failed = Execution("2024-01-04T09:00:00Z");
  failed.failure = "third";
  json::Value later = failed.ToJson();
  later.Set("scheduleTime", "2024-01-04T12:00:00+02:00");
  history.Set("failedExecutions", json::Value::Array({later}));
  CHECK(api::ExecutionHistoryView(history).LastFailure() == "third");
}

TEST_CASE("the next time is set and removed") {
  json::Value history = api::NewExecutionHistory("up");
  CHECK_FALSE(api::ExecutionHistoryView(history).NextExecutionTime().has_value());
  api::SetNextExecutionTime(history, At("2024-01-01T09:00:00Z"));
  CHECK(history == Json(R"({"ruleName": "up", "nextExecutionTime": "2024-01-01T09:00:00Z"})"));
  CHECK(api::ExecutionHistoryView(history).NextExecutionTime() == At("2024-01-01T09:00:00Z"));
  api::SetNextExecutionTime(history, std::nullopt);
  CHECK(history == Json(R"({"ruleName": "up"})"));
  const json::Value broken = Json(R"({"ruleName": "up", "nextExecutionTime": "soon"})");
  CHECK_FALSE(api::ExecutionHistoryView(broken).NextExecutionTime().has_value());
}

TEST_CASE("the target is read, and only one API version is Karmada's") {
  kube::Object object(Json(R"({
      "metadata": {"namespace": "ns", "name": "n"},
      "spec": {"scaleTargetRef": {"apiVersion": "autoscaling.karmada.io/v1alpha1",
                                  "kind": "FederatedHPA", "name": "web"}},
      "status": {"executionHistories": [{"ruleName": "a"}, {"ruleName": "b"}]}})"));
  const api::CronFederatedHpaView view(object);
  CHECK(view.TargetsKarmada());
  CHECK(view.TargetsFederatedHpa());
  CHECK(view.TargetKey() == kube::ObjectKey{"ns", "web"});
  CHECK(view.History("b")["ruleName"].AsString() == "b");
  CHECK(view.History("c").is_null());
  kube::Object other = object;
  other.Set({"spec", "scaleTargetRef", "apiVersion"}, "apps/v1");
  CHECK_FALSE(api::CronFederatedHpaView(other).TargetsKarmada());
  CHECK(api::message::CronTargetNotSupported({"ns", "n"}, "autoscaling.karmada.io/v1alpha1", "X") ==
        "CronFederatedHPA(ns/n) do not support scale target autoscaling.karmada.io/v1alpha1/X");
}

TEST_CASE("only the bounds that a rule has are set") {
  kube::Object hpa(Json(R"({"spec": {"minReplicas": 1, "maxReplicas": 5}})"));
  api::CronRule rule;
  rule.max_replicas = 9;
  api::SetReplicaBounds(hpa, rule);
  CHECK(hpa.spec() == Json(R"({"minReplicas": 1, "maxReplicas": 9})"));
  rule.min_replicas = 4;
  api::SetReplicaBounds(hpa, rule);
  CHECK(hpa.spec() == Json(R"({"minReplicas": 4, "maxReplicas": 9})"));
}

TEST_CASE("no histories are no field") {
  kube::Object object(Json(R"({"status": {"executionHistories": [{"ruleName": "a"}]}})"));
  api::SetExecutionHistories(object, json::Value::Array());
  CHECK(object.status() == Json("{}"));
}
