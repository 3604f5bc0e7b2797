#include "controllers/cron_federated_hpa/rule_plan.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/time_zone.h"
#include "tests/support/members_fixture.h"

namespace {

using tests::Json;

absl::Time At(absl::string_view time_of_day) {
  const auto time = kube::ParseTime(absl::StrCat("2024-05-01T", time_of_day, "Z"));
  INFO(time_of_day);
  REQUIRE(time.ok());
  return *time;
}

std::string Text(std::optional<absl::Time> time) {
  if (!time.has_value()) return "-";
  const std::string text = kube::FormatTime(*time);
  return absl::StartsWith(text, "2024-05-01T") ? text.substr(11, 8) : text.substr(0, 19);
}

struct Case {
  const char* what;
  const char* schedule;
  const char* known;     // nextExecutionTime, "" for none.
  const char* executed;  // A recorded scheduleTime, "" for none.
  const char* now;
  const char* due;
  const char* next;
  const char* missed;
};

constexpr Case kCases[] = {
    {"a rule that is new waits for its next time", "0 * * * *", "", "", "10:00:00", "-", "11:00:00",
     "-"},
    {"nothing is due before the time", "0 * * * *", "10:00:00", "", "09:59:59", "-", "10:00:00",
     "-"},
    {"it is due at the time", "0 * * * *", "10:00:00", "", "10:00:00", "10:00:00", "11:00:00", "-"},
    {"it is due a little later", "0 * * * *", "10:00:00", "", "10:05:00", "10:00:00", "11:00:00",
     "-"},
    {"it is not due any more", "0 * * * *", "10:00:00", "", "10:05:01", "-", "11:00:00",
     "10:00:00"},
    {"of several times the latest is due", "* * * * *", "10:00:00", "", "10:02:30", "10:02:00",
     "10:03:00", "-"},
    {"the latest is due after a long time", "* * * * *", "04:00:00", "", "10:02:30", "10:02:00",
     "10:03:00", "-"},
    {"what is recorded is not due again", "0 * * * *", "10:00:00", "10:00:00", "10:01:00", "-",
     "11:00:00", "-"},
    {"what is recorded was not missed", "0 * * * *", "10:00:00", "10:00:00", "10:30:00", "-",
     "11:00:00", "-"},
    {"a clock that was set back repeats nothing", "0 * * * *", "11:00:00", "10:00:00", "09:50:00",
     "-", "11:00:00", "-"},
    {"a clock that was far ahead blocks nothing", "0 * * * *", "23:00:00", "22:00:00", "09:50:00",
     "-", "10:00:00", "-"},
    {"an edit to an earlier time counts", "30 * * * *", "11:00:00", "", "10:10:00", "-", "10:30:00",
     "-"},
    {"an edit to a later time counts", "30 12 * * *", "11:00:00", "", "10:10:00", "-", "12:30:00",
     "-"},
    {"a time of the schedule before the edit is not missed", "30 * * * *", "09:00:00", "",
     "10:10:00", "-", "10:30:00", "-"},
    {"an interval counts from the known time", "@every 1h", "10:20:00", "", "10:00:00", "-",
     "10:20:00", "-"},
    {"an interval begins now", "@every 1h", "", "", "10:00:01", "-", "11:00:01", "-"},
    {"an interval is due", "@every 1h", "10:20:00", "", "10:20:03", "10:20:00", "11:20:00", "-"},
    {"an interval keeps its rhythm over a gap", "@every 10m", "08:03:00", "", "10:05:00",
     "10:03:00", "10:13:00", "-"},
    {"an interval that was missed", "@every 1h", "08:03:00", "", "10:30:00", "-", "11:03:00",
     "08:03:00"},
    {"a shorter interval begins again", "@every 10m", "10:40:00", "", "10:00:00", "-", "10:10:00",
     "-"},
    {"a schedule that never fires", "0 0 30 2 *", "10:00:00", "", "10:01:00", "-", "-", "-"},
    {"seconds are due one by one", "@every 1s", "10:00:00", "", "10:00:09", "10:00:09", "10:00:10",
     "-"},
};

api::CronRule RuleNamed(const std::string& name) {
  api::CronRule rule;
  rule.name = name;
  return rule;
}

std::vector<controllers::RulePlan> Plans(const std::string& rules, const std::string& histories,
                                         absl::Time now) {
  kube::Object object =
      kube::Object::Make({"autoscaling.karmada.io", "v1alpha1", "X"}, {"ns", "n"});
  object.Set({"spec", "rules"}, Json(absl::StrCat("[", rules, "]")));
  object.Set({"status", "executionHistories"}, Json(absl::StrCat("[", histories, "]")));
  return controllers::PlanRules(api::CronFederatedHpaView(object), now);
}

}  // namespace

TEST_CASE("what is due follows from the schedule, the status and the time") {
  for (const Case& c : kCases) {
    INFO(c.what);
    json::Value history = api::NewExecutionHistory("r");
    if (*c.known != 0) api::SetNextExecutionTime(history, At(c.known));
    if (*c.executed != 0) {
      api::AddExecution(history, {}, {.scheduled = At(c.executed), .executed = At(c.executed)});
    }
    const auto schedule = base::CronSchedule::Parse(c.schedule, absl::UTCTimeZone());
    REQUIRE(schedule.ok());
    const auto plan = controllers::PlanSchedule(*schedule, history, At(c.now));
    CHECK(Text(plan.due) == c.due);
    CHECK(Text(plan.next) == c.next);
    CHECK(Text(plan.missed) == c.missed);
  }
}

TEST_CASE("a rule is planned in its time zone, and a suspended one not at all") {
  const auto plans =
      Plans(R"(
      {"name": "a", "schedule": "0 9 * * *", "timeZone": "Asia/Tokyo"},
      {"name": "b", "schedule": "0 9 * * *", "timeZone": "Asia/Tokyo", "suspend": true},
      {"name": "c", "schedule": "TZ=Europe/Berlin 0 9 * * *", "timeZone": "Asia/Tokyo"},
      {"name": "d", "schedule": "broken", "suspend": true})",
            R"({"ruleName": "b", "nextExecutionTime": "2024-04-30T00:00:00Z"})", At("00:00:00"));
  REQUIRE(plans.size() == 4);
  CHECK(Text(plans[0].plan.next) == "2024-05-02T00:00:00");
  CHECK(Text(plans[1].plan.next) == "-");
  CHECK_FALSE(plans[1].plan.missed.has_value());
  CHECK(Text(plans[2].plan.next) == "07:00:00");
  for (const auto& plan : plans) CHECK(plan.problem.empty());
}

TEST_CASE("rules that cannot be executed have a problem, in upstream's words") {
  const auto plans =
      Plans(R"(
      {"name": "a", "schedule": "0 9 * *"},
      {"name": "b", "schedule": "0 9 * * *", "timeZone": "Mars/Olympus"},
      {"name": "c", "schedule": "0 0 30 2 *"},
      {"name": "d", "schedule": "@daily"},
      {"name": "d", "schedule": "@hourly"})",
            R"({"ruleName": "a", "nextExecutionTime": "2024-05-01T10:00:00Z"})", At("10:00:01"));
  REQUIRE(plans.size() == 5);
  CHECK(plans[0].problem ==
        "gocron: cron expression failed to be parsed: expected exactly 5 fields, found 4: [0 9 * "
        "*]");
  CHECK_FALSE(plans[0].plan.due.has_value());
  CHECK(plans[1].problem == "unknown time zone Mars/Olympus");
  CHECK(plans[2].problem ==
        "no day or time matches the schedule \"0 0 30 2 *\", so it is never executed");
  CHECK(plans[3].problem.empty());
  CHECK(plans[4].problem == "an earlier rule has the same name, so this one is not executed");
  CHECK_FALSE(plans[4].plan.next.has_value());
}

TEST_CASE("of ten thousand rules no more are executed than a minute has time for") {
  kube::Object object;
  json::Value rules = json::Value::Array();
  for (int i = 0; i < 10'000; ++i) {
    rules.Append(json::Value::Object(
        {{"name", absl::StrCat("r", i)}, {"schedule", "* * * * *"}, {"targetReplicas", i}}));
  }
  object.Set({"spec", "rules"}, rules);
  const auto plans = controllers::PlanRules(api::CronFederatedHpaView(object),
                                            *kube::ParseTime("2024-05-01T10:00:00Z"));
  REQUIRE(plans.size() == controllers::kMostRules + 1);
  CHECK(plans[controllers::kMostRules - 1].problem.empty());
  CHECK(plans.back().rule.name == "r500");
  CHECK(plans.back().problem ==
        "at most 500 rules of an object are executed, so neither this one is nor those behind it");
  CHECK_FALSE(plans.back().plan.due.has_value());
}

TEST_CASE("rules are executed by their times, and at the same time in their order") {
  std::vector<controllers::RulePlan> plans;
  for (const char* due : {"10:02:00", "", "10:01:00", "10:02:00", "10:00:00"}) {
    controllers::RulePlan plan{.rule = RuleNamed("r"), .plan = {}, .problem = ""};
    if (*due != 0) plan.plan.due = At(due);
    plans.push_back(plan);
  }
  CHECK(controllers::DueInOrder(plans) == std::vector<size_t>{4, 2, 0, 3});
}
