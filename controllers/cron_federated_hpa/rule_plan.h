// Determines what has to be done about the rules of a CronFederatedHPA at a moment: pure functions
// of the object and the time.
#ifndef CONTROLLERS_CRON_FEDERATED_HPA_RULE_PLAN_H_
#define CONTROLLERS_CRON_FEDERATED_HPA_RULE_PLAN_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "api/cron_federated_hpa.h"
#include "base/cron_schedule.h"
#include "base/json.h"

namespace controllers {

// An execution that is late by more than this, because nobody led at its time or clocks were wrong,
// does not take place any more. Upstream executes nothing late; the time is for a lost lease (half
// a minute) and for a program that is started again, perhaps on another machine.
inline constexpr absl::Duration kLatestExecution = absl::Minutes(5);

// So many rules of an object are executed, the first ones. Each execution is a request or two, and
// an object has room for ten thousand rules, all of which may be due every minute.
inline constexpr size_t kMostRules = 500;

// What is to be done about a schedule.
struct SchedulePlan {
  // The rule has to be executed now, for this time: the latest one up to now that is not recorded.
  std::optional<absl::Time> due;
  // With `due`: the earliest time within kLatestExecution that is not recorded, since when the rule
  // has been waiting.
  absl::Time due_since = absl::InfiniteFuture();
  // When the rule is executed next, later than now; nullopt: never.
  std::optional<absl::Time> next;
  // This time was to be executed, but is too long ago, or before the last edit.
  std::optional<absl::Time> missed;
};
// `history` is the rule's item of status.executionHistories, or null. Its nextExecutionTime is what
// makes a time before now due; so a rule that is new, or has just been resumed, is never due at
// once. Times that it records as executed are not due again, also not after the clock was set
// back. Times before `edited` are not due: the schedule may have been another one then.
SchedulePlan PlanSchedule(const base::CronSchedule& schedule, const json::Value& history,
                          absl::Time now, absl::Time edited = absl::InfinitePast());

// A rule with what is to be done about it.
struct RulePlan {
  api::CronRule rule;
  SchedulePlan plan;
  // Why the rule can never be executed, in upstream's words where upstream finds the same; "": it
  // can, or it is suspended.
  std::string problem;
};
// Returns a plan for each rule, in the order of the rules. A name that an earlier rule has is a
// problem. Of too many rules, the first one that is not executed is a problem, and ends the list.
// `edited` is when the rules were edited last, if that is known.
std::vector<RulePlan> PlanRules(const api::CronFederatedHpaView& object, absl::Time now,
                                absl::Time edited = absl::InfinitePast());

// Returns the indexes of the plans that are due in the order in which they have to be executed: by
// time, and for the same time by the order of the rules. So what was scheduled last prevails.
std::vector<size_t> DueInOrder(const std::vector<RulePlan>& plans);

}  // namespace controllers

#endif  // CONTROLLERS_CRON_FEDERATED_HPA_RULE_PLAN_H_
