#include "controllers/cron_federated_hpa/unrecorded_runs.h"

#include <utility>

#include "api/cron_federated_hpa.h"

namespace controllers {
namespace {

// The next time is written together with the execution, and the execution may have been trimmed
// since.
bool Records(const api::CronFederatedHpaView& object, const RuleRun& run) {
  const api::ExecutionHistoryView history(object.History(run.rule));
  const std::optional<absl::Time> next = history.NextExecutionTime();
  return history.Records(run.execution.scheduled) ||
         (next.has_value() && *next > run.execution.scheduled);
}

}  // namespace

std::vector<RuleRun> Unrecorded(const kube::Object& object, std::vector<RuleRun> runs) {
  const api::CronFederatedHpaView view(object);
  std::erase_if(runs, [&view](const RuleRun& run) { return Records(view, run); });
  return runs;
}

std::vector<RuleRun> UnrecordedRuns::Of(const kube::Object& object) const {
  std::vector<RuleRun> runs;
  {
    absl::MutexLock lock(&mu_);
    const auto found = entries_.find(object.key());
    if (found == entries_.end() || found->second.uid != object.uid()) return {};
    runs = found->second.runs;
  }
  return Unrecorded(object, std::move(runs));
}

void UnrecordedRuns::Keep(const kube::Object& object, std::vector<RuleRun> runs) {
  if (runs.size() > kMost) runs.erase(runs.begin(), runs.end() - kMost);
  absl::MutexLock lock(&mu_);
  if (runs.empty()) {
    entries_.erase(object.key());
  } else {
    entries_[object.key()] = {std::string(object.uid()), std::move(runs)};
  }
}

void UnrecordedRuns::Forget(const kube::ObjectKey& key) {
  absl::MutexLock lock(&mu_);
  entries_.erase(key);
}

}  // namespace controllers
