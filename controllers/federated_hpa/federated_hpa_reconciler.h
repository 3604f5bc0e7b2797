// The FederatedHPA loop: scales templates by metrics of their pods in all clusters (upstream's
// federatedHPA-controller).
#ifndef CONTROLLERS_FEDERATED_HPA_FEDERATED_HPA_RECONCILER_H_
#define CONTROLLERS_FEDERATED_HPA_FEDERATED_HPA_RECONCILER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "config/options.h"
#include "controllers/autoscaling/metrics_source.h"
#include "controllers/federated_hpa/member_scales.h"
#include "controllers/federated_hpa/scaling_decision.h"
#include "controllers/federated_hpa/scaling_memory.h"
#include "controllers/federated_hpa/scaling_pass.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/reconciler.h"

namespace controllers {

class FederatedHpaReconciler : public kube::Reconciler {
 public:
  struct Deps {
    kube::Manager& manager;
    MemberScales::Deps members;
    const config::PodAutoscaling& flags;
    std::unique_ptr<autoscaling::MetricsSource> metrics;
  };
  // REQUIRES: what `deps` refers to outlives the reconciler.
  explicit FederatedHpaReconciler(Deps deps);

  // The request's key names a FederatedHPA, which is looked at again after the sync period, also
  // when it failed: its conditions and an event say why.
  absl::StatusOr<kube::Action> Reconcile(const kube::Request& request,
                                         const base::StopToken& stop) override;

 private:
  // Has pods watched in members as long as there is a FederatedHPA, and for some time after that.
  // Returns when that time will be over; infinite unless it is running.
  absl::Duration WatchPodsIfInUse();
  // Each step returns an error after it has reported it (ScalingPass::Fail).
  absl::Status Scale(ScalingPass& pass, const base::StopToken& stop);
  absl::Status FindTarget(ScalingPass& pass, const base::StopToken& stop);
  // Reports that the target has no replicas, by which somebody has switched scaling off.
  static void ReportDisabled(ScalingPass& pass);
  absl::StatusOr<std::vector<std::string>> ReadyClusters(ScalingPass& pass,
                                                         const base::StopToken& stop);
  // kAborted when another writer has changed the number.
  absl::Status SetReplicas(ScalingPass& pass, int64_t replicas, const base::StopToken& stop);
  absl::Status Rescale(ScalingPass& pass, const ScalingDecision& decision,
                       const base::StopToken& stop);
  absl::Status WriteStatus(ScalingPass& pass, const base::StopToken& stop);
  void Observe(base::SteadyTime start, const absl::Status& result);

  kube::Manager& manager_;
  const absl::Duration period_;
  MemberScales members_;
  absl::Mutex in_use_mu_;  // From the look at the store until members_ knows: the last one counts.
  // When there was a FederatedHPA. After a restart nothing has been listed yet that could be kept.
  std::optional<base::SteadyTime> last_in_use_ ABSL_GUARDED_BY(in_use_mu_);
  kube::EventRecorder recorder_;
  ScalingMemory memory_;
  ScalingDecider decider_;
};

}  // namespace controllers

#endif  // CONTROLLERS_FEDERATED_HPA_FEDERATED_HPA_RECONCILER_H_
