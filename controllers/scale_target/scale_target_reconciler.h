// The scale target loop: marks what propagated autoscalers scale, so that members keep its replicas
// (upstream's hpa-scale-target-marker).
#ifndef CONTROLLERS_SCALE_TARGET_SCALE_TARGET_RECONCILER_H_
#define CONTROLLERS_SCALE_TARGET_SCALE_TARGET_RECONCILER_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/stop_token.h"
#include "kube/meta/object.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/reconciler.h"

namespace controllers {

// The template that a propagated HorizontalPodAutoscaler scales has the label
// resourcetemplate.karmada.io/retain-replicas, until no autoscaler scales it any more.
class ScaleTargetReconciler : public kube::Reconciler {
 public:
  // REQUIRES: `manager` outlives the reconciler.
  explicit ScaleTargetReconciler(kube::Manager& manager) : manager_(manager) {}

  // The request names a scale target: its kind and its key. `reason` is kRelease if an autoscaler
  // has let go of it: then the label is removed unless another one scales it.
  absl::StatusOr<kube::Action> Reconcile(const kube::Request& request,
                                         const base::StopToken& stop) override;

  static constexpr kube::Reason kMark = {};
  static constexpr kube::Reason kRelease = "release";

 private:
  kube::Manager& manager_;
};

}  // namespace controllers

#endif  // CONTROLLERS_SCALE_TARGET_SCALE_TARGET_RECONCILER_H_
