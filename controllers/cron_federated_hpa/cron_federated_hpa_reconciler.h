// The cron loop: scales at given times (upstream's cronfederatedhpa-controller).
#ifndef CONTROLLERS_CRON_FEDERATED_HPA_CRON_FEDERATED_HPA_RECONCILER_H_
#define CONTROLLERS_CRON_FEDERATED_HPA_CRON_FEDERATED_HPA_RECONCILER_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "api/reasons.h"
#include "base/stop_token.h"
#include "controllers/cron_federated_hpa/execution_histories.h"
#include "controllers/cron_federated_hpa/rule_plan.h"
#include "controllers/cron_federated_hpa/unrecorded_runs.h"
#include "kube/meta/object.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/reconciler.h"

namespace controllers {

// Executes the rules of a CronFederatedHPA at their times, each time once, and records that in
// status.executionHistories, with the next time of each rule.
class CronFederatedHpaReconciler : public kube::Reconciler {
 public:
  // REQUIRES: `manager` outlives the reconciler.
  explicit CronFederatedHpaReconciler(kube::Manager& manager);

  // The request's key names a CronFederatedHPA.
  absl::StatusOr<kube::Action> Reconcile(const kube::Request& request,
                                         const base::StopToken& stop) override;

 private:
  // A pass over one object.
  struct Pass {
    kube::ObjectPtr object;
    std::vector<RulePlan> plans;
    // What was executed in this pass, and in earlier ones whose status could not be written.
    std::vector<RuleRun> runs;
    // When the rules were edited last, as far as that matters and is known.
    absl::Time edited = absl::InfinitePast();
    // Why the due rules that have no run are tried again.
    absl::Status delayed;
  };

  absl::StatusOr<kube::Action> Process(Pass& pass, const base::StopToken& stop);
  void Forget(const kube::ObjectKey& key) ABSL_LOCKS_EXCLUDED(mu_);
  void Plan(Pass& pass) const;
  // Replaces the object by what the server has, and plans again; runs that the server has are
  // dropped.
  absl::Status Reread(Pass& pass, const base::StopToken& stop) const;
  // If a rule is executed late, asks when the rules were edited, and plans again: a time before
  // that does not count.
  absl::Status LearnOfEdit(Pass& pass, const base::StopToken& stop) const;
  void ExecuteDue(Pass& pass, const base::StopToken& stop);
  // Records the outcome of an execution.
  void Finish(Pass& pass, const RulePlan& plan, const absl::Status& result);
  absl::Status WriteStatus(Pass& pass, const base::StopToken& stop);
  // Remembers the runs that the status does not record, after a write that ended like this.
  void KeepRuns(const Pass& pass, const absl::Status& written);
  absl::Status TryWriteStatus(Pass& pass, const base::StopToken& stop);
  // Records events about rules that cannot be executed, each once, and about missed times.
  void ReportProblems(const Pass& pass) ABSL_LOCKS_EXCLUDED(mu_);
  void ReportMissed(const Pass& pass);
  kube::Action UntilNext(const Pass& pass) const;
  void Observe(const char* metric, bool ok, base::SteadyTime start);

  kube::Manager& manager_;
  kube::EventRecorder recorder_;
  UnrecordedRuns unrecorded_;
  absl::Mutex mu_;
  // The rules that cannot be executed, each with the reason, that events have been made about. If
  // it is empty, the events are made once more.
  using Problems = std::set<std::pair<std::string, std::string>>;
  std::map<kube::ObjectKey, Problems> reported_ ABSL_GUARDED_BY(mu_);
};

}  // namespace controllers

#endif  // CONTROLLERS_CRON_FEDERATED_HPA_CRON_FEDERATED_HPA_RECONCILER_H_
