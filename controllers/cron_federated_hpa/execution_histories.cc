#include "controllers/cron_federated_hpa/execution_histories.h"

#include <algorithm>
#include <utility>

namespace controllers {
namespace {

// Returns the first plan of a rule with this name; nullptr if there is none.
const RulePlan* PlanOf(const std::vector<RulePlan>& plans, absl::string_view rule) {
  const auto found = std::find_if(plans.begin(), plans.end(),
                                  [rule](const RulePlan& plan) { return plan.rule.name == rule; });
  return found == plans.end() ? nullptr : &*found;
}

json::Value Updated(json::Value history, const RulePlan& plan, const std::vector<RuleRun>& runs) {
  if (IsUnfinished(plan, runs)) return history;
  for (const RuleRun& run : runs) {
    if (run.rule == plan.rule.name) api::AddExecution(history, plan.rule, run.execution);
  }
  // The same time may be written in another way.
  if (api::ExecutionHistoryView(history).NextExecutionTime() != plan.plan.next ||
      !plan.plan.next.has_value()) {
    api::SetNextExecutionTime(history, plan.plan.next);
  }
  return history;
}

}  // namespace

bool HasRun(const RulePlan& plan, const std::vector<RuleRun>& runs, absl::Time scheduled) {
  return std::any_of(runs.begin(), runs.end(), [&](const RuleRun& run) {
    return run.rule == plan.rule.name && run.execution.scheduled == scheduled;
  });
}

bool IsUnfinished(const RulePlan& plan, const std::vector<RuleRun>& runs) {
  return plan.plan.due.has_value() && !HasRun(plan, runs, *plan.plan.due);
}

json::Value HistoriesAfter(const api::CronFederatedHpaView& object,
                           const std::vector<RulePlan>& plans, const std::vector<RuleRun>& runs) {
  json::Value out = json::Value::Array();
  for (const json::Value& history : object.Histories()) {
    const RulePlan* const plan = PlanOf(plans, api::ExecutionHistoryView(history).RuleName());
    if (plan != nullptr) out.Append(Updated(history, *plan, runs));
  }
  for (const RulePlan& plan : plans) {
    if (!plan.problem.empty() || !object.History(plan.rule.name).is_null()) continue;
    out.Append(Updated(api::NewExecutionHistory(plan.rule.name), plan, runs));
  }
  return out;
}

}  // namespace controllers
