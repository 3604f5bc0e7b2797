#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "controllers/cron_federated_hpa/execution_histories.h"
#include "controllers/cron_federated_hpa/unrecorded_runs.h"
#include "tests/support/members_fixture.h"

namespace {

using tests::Json;

struct Object {
  kube::Object object =
      kube::Object::Make({"autoscaling.karmada.io", "v1alpha1", "X"}, {"ns", "n"});
  std::vector<controllers::RulePlan> plans;

  Object(const std::string& rules, const std::string& histories) {
    object.Set({"spec", "rules"}, Json(absl::StrCat("[", rules, "]")));
    object.Set({"status", "executionHistories"}, Json(absl::StrCat("[", histories, "]")));
    plans = controllers::PlanRules(api::CronFederatedHpaView(object), Now());
  }
  static absl::Time Now() { return *kube::ParseTime("2024-05-01T10:00:03Z"); }
  json::Value After(const std::vector<controllers::RuleRun>& runs = {}) const {
    return controllers::HistoriesAfter(api::CronFederatedHpaView(object), plans, runs);
  }
};

constexpr char kHourly[] = R"({"name": "up", "schedule": "0 * * * *", "timeZone": "UTC"})";
constexpr char kDue[] = R"({"ruleName": "up", "nextExecutionTime": "2024-05-01T10:00:00Z"})";

controllers::RuleRun RunOf(const std::string& rule) {
  return {rule,
          {.scheduled = *kube::ParseTime("2024-05-01T10:00:00Z"),
           .executed = Object::Now(),
           .failure = {},
           .replicas = 3}};
}

}  // namespace

TEST_CASE("each rule gets a history, and the one of a rule that has gone goes") {
  const Object object(
      absl::StrCat(kHourly, R"(, {"name": "off", "schedule": "@daily", "suspend": true})"),
      R"({"ruleName": "gone", "nextExecutionTime": "2024-05-01T11:00:00Z"})");
  CHECK(object.After() == Json(R"([
      {"ruleName": "up", "nextExecutionTime": "2024-05-01T11:00:00Z"}, {"ruleName": "off"}])"));
}

TEST_CASE("a run is recorded with the next time") {
  const Object object(kHourly, kDue);
  CHECK(object.After({RunOf("up")}) == Json(R"([
      {"ruleName": "up", "nextExecutionTime": "2024-05-01T11:00:00Z", "successfulExecutions": [
          {"scheduleTime": "2024-05-01T10:00:00Z", "executionTime": "2024-05-01T10:00:03Z",
           "appliedReplicas": 3}]}])"));
}

TEST_CASE("a due rule without a run stays due") {
  const Object object(kHourly, kDue);
  CHECK(controllers::IsUnfinished(object.plans.at(0), {}));
  CHECK_FALSE(controllers::IsUnfinished(object.plans.at(0), {RunOf("up")}));
  CHECK(object.After() == Json(absl::StrCat("[", kDue, "]")));
}

TEST_CASE("a run of an earlier time is recorded with that of the time that is due") {
  const Object object(R"({"name": "up", "schedule": "* * * * *", "timeZone": "UTC"})",
                      R"({"ruleName": "up", "nextExecutionTime": "2024-05-01T09:59:00Z"})");
  controllers::RuleRun earlier = RunOf("up");
  earlier.execution.scheduled -= absl::Minutes(1);
  CHECK(controllers::IsUnfinished(object.plans.at(0), {earlier}));
  CHECK_FALSE(object.After({earlier}).At(0).Has("successfulExecutions"));
  const json::Value after = object.After({earlier, RunOf("up")});
  const json::Value& done = after.At(0)["successfulExecutions"];
  REQUIRE(done.size() == 2);
  CHECK(done.At(0)["scheduleTime"].AsString() == "2024-05-01T10:00:00Z");
  CHECK(done.At(1)["scheduleTime"].AsString() == "2024-05-01T09:59:00Z");
}

TEST_CASE("runs that a status records are not kept, nor too many") {
  const auto object = [](const std::string& history) {
    Object made(kHourly, history);
    return made.object;
  };
  controllers::UnrecordedRuns runs;
  const kube::Object due = object(kDue);
  runs.Keep(due, {RunOf("up")});
  CHECK(runs.Of(due).size() == 1);
  CHECK(runs.Of(object("")).size() == 1);
  CHECK(runs.Of(object(R"({"ruleName": "up", "nextExecutionTime": "2024-05-01T11:00:00Z"})"))
            .empty());
  CHECK(runs.Of(object(R"({"ruleName": "up", "failedExecutions": [
            {"scheduleTime": "2024-05-01T10:00:00Z"}]})"))
            .empty());
  kube::Object successor = due;
  successor.Set({"metadata", "uid"}, "successor");
  CHECK(runs.Of(successor).empty());
  runs.Keep(due,
            std::vector<controllers::RuleRun>(controllers::UnrecordedRuns::kMost + 1, RunOf("up")));
  CHECK(runs.Of(due).size() == controllers::UnrecordedRuns::kMost);
  runs.Forget(due.key());
  CHECK(runs.Of(due).empty());
}

TEST_CASE("a run of a rule that has gone is dropped") {
  CHECK(Object("", kDue).After({RunOf("up")}) == Json("[]"));
}

TEST_CASE("a suspended rule keeps what was executed, without a next time") {
  const Object object(
      R"({"name": "up", "schedule": "0 * * * *", "suspend": true})",
      R"({"ruleName": "up", "nextExecutionTime": "2024-05-01T10:00:00Z", "failedExecutions": [{}]})");
  CHECK(object.After() == Json(R"([{"ruleName": "up", "failedExecutions": [{}]}])"));
}

TEST_CASE("a rule with a problem has no next time, and gets no history") {
  constexpr char kBroken[] = R"({"name": "up", "schedule": "no"})";
  CHECK(Object(kBroken, "").After() == Json("[]"));
  CHECK(Object(kBroken, kDue).After() == Json(R"([{"ruleName": "up"}])"));
}

TEST_CASE("a time that is written in another way is left as it is") {
  constexpr char kOther[] =
      R"({"ruleName": "up", "nextExecutionTime": "2024-05-01T13:00:00+02:00", "more": 1})";
  CHECK(Object(kHourly, kOther).After() == Json(absl::StrCat("[", kOther, "]")));
}
