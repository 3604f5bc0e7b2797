// What status.executionHistories of a CronFederatedHPA has to be: a pure function.
#ifndef CONTROLLERS_CRON_FEDERATED_HPA_EXECUTION_HISTORIES_H_
#define CONTROLLERS_CRON_FEDERATED_HPA_EXECUTION_HISTORIES_H_

#include <string>
#include <vector>

#include "api/cron_federated_hpa.h"
#include "base/json.h"
#include "controllers/cron_federated_hpa/rule_plan.h"

namespace controllers {

// An execution of a rule that is not in the status yet.
struct RuleRun {
  std::string rule;
  api::CronExecution execution;
};

// Returns whether one of `runs` is of the plan's rule and of this time.
bool HasRun(const RulePlan& plan, const std::vector<RuleRun>& runs, absl::Time scheduled);

// Returns whether the plan's rule is due and has no run of the time that is due.
bool IsUnfinished(const RulePlan& plan, const std::vector<RuleRun>& runs);

// Returns the items of the present rules with `runs`, the oldest first, added and with the next
// times of `plans`: the present items in their order, then items for new rules. Items of rules that
// have left the spec go, and their runs are dropped. An unfinished rule keeps its item, so that it
// stays due. A rule with a problem has no next time, and gets no item if it has none.
json::Value HistoriesAfter(const api::CronFederatedHpaView& object,
                           const std::vector<RulePlan>& plans, const std::vector<RuleRun>& runs);

}  // namespace controllers

#endif  // CONTROLLERS_CRON_FEDERATED_HPA_EXECUTION_HISTORIES_H_
