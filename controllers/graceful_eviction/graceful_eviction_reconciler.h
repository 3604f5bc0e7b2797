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

namespace controllers {

template <class Scope>
class GracefulEvictionReconciler : public kube::Reconciler {
 public:
  struct Options {
    absl::Duration timeout;  // For tasks without a grace period.
    // Tasks of the taint manager stay to keep workloads away that have returned. If this is false,
    // all tasks end as upstream's do, also those that have stayed so far, and nothing is recorded.
    bool keeps_away = false;
  };
  // REQUIRES: `manager` outlives the reconciler.
  GracefulEvictionReconciler(kube::Manager& manager, Options options);

  // The request's key names a binding of this scope.
  absl::StatusOr<kube::Action> Reconcile(const kube::Request& request,
                                         const base::StopToken& stop) override;

 private:
  // Reports each cluster once, of a list that users may have made long the first ones.
  void ReportEvicted(const kube::Object& binding, const std::vector<std::string>& clusters);

  kube::Manager& manager_;
  const Options options_;
  kube::EventRecorder recorder_;
};

}  // namespace controllers

#endif  // CONTROLLERS_GRACEFUL_EVICTION_GRACEFUL_EVICTION_RECONCILER_H_
