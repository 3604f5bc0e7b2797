// Ends eviction tasks of bindings (upstream's pkg/controllers/gracefuleviction). As long as a task
// is there, the Work of its cluster stays; the binding controllers delete it afterwards.
#ifndef CONTROLLERS_GRACEFUL_EVICTION_GRACEFUL_EVICTION_RECONCILER_H_
#define CONTROLLERS_GRACEFUL_EVICTION_GRACEFUL_EVICTION_RECONCILER_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/stop_token.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/reconciler.h"
#include "loops/context.h"

namespace controllers {

template <class Scope>
class GracefulEvictionReconciler : public kube::Reconciler {
 public:
  // `timeout` is for tasks without a grace period. REQUIRES: `manager` outlives the reconciler.
  GracefulEvictionReconciler(kube::Manager& manager, absl::Duration timeout);

  // The request's key names a binding of this scope.
  absl::StatusOr<kube::Action> Reconcile(const kube::Request& request,
                                         const base::StopToken& stop) override;

 private:
  kube::Manager& manager_;
  const absl::Duration timeout_;
  kube::EventRecorder recorder_;
};

// Builds the loop of one scope.
template <class Scope>
absl::Status RegisterGracefulEviction(const loops::Context& context, int workers);

}  // namespace controllers

#endif  // CONTROLLERS_GRACEFUL_EVICTION_GRACEFUL_EVICTION_RECONCILER_H_
