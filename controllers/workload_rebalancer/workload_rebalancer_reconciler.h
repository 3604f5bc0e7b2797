// The workload rebalancer loop: makes the scheduler place again, once, the workloads that a
// WorkloadRebalancer names (upstream's workload-rebalancer).
#ifndef CONTROLLERS_WORKLOAD_REBALANCER_WORKLOAD_REBALANCER_RECONCILER_H_
#define CONTROLLERS_WORKLOAD_REBALANCER_WORKLOAD_REBALANCER_RECONCILER_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "api/reasons.h"
#include "api/workload_rebalancer.h"
#include "base/stop_token.h"
#include "kube/meta/object.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/reconciler.h"

namespace controllers {

// The scheduler places a binding again when spec.rescheduleTriggeredAt is later than its last
// scheduling. This loop sets that field to the moment when the rebalancer was created, but never
// back to an earlier moment: so a restart triggers nothing again, and an edit of an old rebalancer
// does not undo what a newer one has asked for.
class WorkloadRebalancerReconciler : public kube::Reconciler {
 public:
  // REQUIRES: `manager` outlives the reconciler.
  explicit WorkloadRebalancerReconciler(kube::Manager& manager)
      : manager_(manager), recorder_(manager.events(), api::kWorkloadRebalancer) {}

  // The request's key names a WorkloadRebalancer. An error names the workloads that have to be
  // tried again; the results of the others are in the status by then.
  absl::StatusOr<kube::Action> Reconcile(const kube::Request& request,
                                         const base::StopToken& stop) override;

 private:
  // Triggers the workloads that have no result yet and records their results. A workload without a
  // binding has failed for good; other errors are returned and leave the item as it is.
  absl::Status TriggerAll(const kube::Object& rebalancer,
                          std::vector<api::ObservedWorkload>& observed,
                          const base::StopToken& stop);
  absl::Status Trigger(const kube::Object& rebalancer, const api::ObjectReference& workload,
                       const base::StopToken& stop);
  // Writes `observed` into the status, with a new finishTime if that changes the status and nothing
  // is left to do. Returns the object as it is afterwards.
  absl::StatusOr<kube::ObjectPtr> WriteStatus(const kube::ObjectPtr& rebalancer,
                                              const std::vector<api::ObservedWorkload>& observed,
                                              const base::StopToken& stop);
  // Records events about what a pass has written: that work on a new generation has begun, which
  // workloads have failed, and that everything is done. Nothing is recorded when both are equal.
  void Report(const kube::Object& before, const kube::Object& now);
  // Deletes a finished rebalancer when its time to live is over.
  absl::StatusOr<kube::Action> Expire(const kube::Object& rebalancer, const base::StopToken& stop);

  kube::Manager& manager_;
  kube::EventRecorder recorder_;
};

}  // namespace controllers

#endif  // CONTROLLERS_WORKLOAD_REBALANCER_WORKLOAD_REBALANCER_RECONCILER_H_
