// Everything follows from the schedule, the time, and the rule's item in the status. A time is due
// when the status named it, or a later one, as the next execution, it has come, and it is neither
// recorded as executed, nor older than kLatestExecution, nor from before the last edit. Of several
// times that are due, the last one is executed. "@every" counts from the time in the status, since
// nothing else says when it began. No clock is read here, and nothing is kept, so that a restart or
// another leader plans the same.

#include "controllers/cron_federated_hpa/rule_plan.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/go_syntax.h"
#include "base/time_zone.h"

namespace controllers {
namespace {

// CronSchedule::Next returns times after its argument.
constexpr absl::Duration kInstant = absl::Nanoseconds(1);

// Returns the first time of the schedule at or after `from`. Times of "@every" are counted from
// `known`, one of them.
std::optional<absl::Time> FirstFrom(const base::CronSchedule& schedule, absl::Time known,
                                    absl::Time from) {
  if (!schedule.interval().has_value()) return schedule.Next(from - kInstant);
  if (known >= from) return known;
  return known + absl::Ceil(from - known, *schedule.interval());
}

std::optional<absl::Time> FirstAfter(const base::CronSchedule& schedule, absl::Time known,
                                     absl::Time time) {
  return FirstFrom(schedule, known, time + kInstant);
}

// Returns when the rule is executed next if no time before now concerns it.
std::optional<absl::Time> NextOf(const base::CronSchedule& schedule,
                                 const api::ExecutionHistoryView& history,
                                 std::optional<absl::Time> known, absl::Time now) {
  // Only the status knows from when "@every" counts. A time that is further away than the interval
  // comes from an earlier schedule or from a wrong clock.
  if (schedule.interval().has_value() && known.has_value() && *known > now &&
      *known <= now + *schedule.interval()) {
    return known;
  }
  std::optional<absl::Time> next = schedule.Next(now);
  while (next.has_value() && history.Records(*next)) next = schedule.Next(*next);
  return next;
}

absl::StatusOr<base::CronSchedule> ParseSchedule(const api::CronRule& rule) {
  const absl::StatusOr<absl::TimeZone> zone = base::FindTimeZone(rule.time_zone.value_or("Local"));
  if (!zone.ok()) return zone.status();
  absl::StatusOr<base::CronSchedule> schedule = base::CronSchedule::Parse(rule.schedule, *zone);
  if (schedule.ok()) return schedule;
  return absl::InvalidArgumentError(
      absl::StrCat("gocron: cron expression failed to be parsed: ", schedule.status().message()));
}

struct Moment {
  absl::Time now, edited;
};

RulePlan PlanRule(const api::CronFederatedHpaView& object, api::CronRule rule, const Moment& at) {
  RulePlan out;
  out.rule = std::move(rule);
  if (out.rule.suspend) return out;
  const absl::StatusOr<base::CronSchedule> schedule = ParseSchedule(out.rule);
  if (!schedule.ok()) {
    out.problem = std::string(schedule.status().message());
    return out;
  }
  out.plan = PlanSchedule(*schedule, object.History(out.rule.name), at.now, at.edited);
  if (!out.plan.next.has_value()) {
    out.problem = absl::StrCat("no day or time matches the schedule ",
                               base::GoQuote(out.rule.schedule), ", so it is never executed");
  }
  return out;
}

}  // namespace

SchedulePlan PlanSchedule(const base::CronSchedule& schedule, const json::Value& history,
                          absl::Time now, absl::Time edited) {
  const api::ExecutionHistoryView view(history);
  const std::optional<absl::Time> known = view.NextExecutionTime();
  SchedulePlan plan;
  if (!known.has_value() || *known > now) {
    plan.next = NextOf(schedule, view, known, now);
    return plan;
  }
  const absl::Time earliest = std::max({*known, now - kLatestExecution, edited});
  std::optional<absl::Time> time = FirstFrom(schedule, *known, earliest);
  for (; time.has_value() && *time <= now; time = FirstAfter(schedule, *known, *time)) {
    plan.due = time;
    plan.due_since = std::min(plan.due_since, *time);
  }
  while (time.has_value() && view.Records(*time)) time = FirstAfter(schedule, *known, *time);
  plan.next = time;
  if (plan.due.has_value() && view.Records(*plan.due)) plan.due.reset();
  // A time that the schedule does not have was of an earlier schedule.
  if (*known < earliest && !plan.due.has_value() && !view.Records(*known) &&
      schedule.Contains(*known)) {
    plan.missed = known;
  }
  return plan;
}

std::vector<RulePlan> PlanRules(const api::CronFederatedHpaView& object, absl::Time now,
                                absl::Time edited) {
  std::vector<RulePlan> plans;
  std::set<std::string> names;
  for (api::CronRule& rule : object.Rules()) {
    if (plans.size() == kMostRules) {
      plans.push_back({.rule = std::move(rule),
                       .plan = {},
                       .problem = absl::StrCat("at most ", kMostRules,
                                               " rules of an object are executed, so neither this "
                                               "one is nor those behind it")});
      break;
    }
    if (names.insert(rule.name).second) {
      plans.push_back(PlanRule(object, std::move(rule), {now, edited}));
      continue;
    }
    plans.push_back({.rule = std::move(rule),
                     .plan = {},
                     .problem = "an earlier rule has the same name, so this one is not executed"});
  }
  return plans;
}

std::vector<size_t> DueInOrder(const std::vector<RulePlan>& plans) {
  std::vector<size_t> due;
  for (size_t i = 0; i < plans.size(); ++i) {
    if (plans[i].plan.due.has_value()) due.push_back(i);
  }
  std::stable_sort(due.begin(), due.end(), [&plans](size_t a, size_t b) {
    return *plans[a].plan.due < *plans[b].plan.due;
  });
  return due;
}

}  // namespace controllers
