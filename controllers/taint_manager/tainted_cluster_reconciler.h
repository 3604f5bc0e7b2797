// The loop that looks for workloads which have to leave clusters with NoExecute taints (upstream's
// taint-manager).
#ifndef CONTROLLERS_TAINT_MANAGER_TAINTED_CLUSTER_RECONCILER_H_
#define CONTROLLERS_TAINT_MANAGER_TAINTED_CLUSTER_RECONCILER_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "api/cluster.h"
#include "base/stop_token.h"
#include "controllers/taint_manager/eviction_queue.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/reconciler.h"

namespace controllers {

class TaintedClusterReconciler : public kube::Reconciler {
 public:
  // How often the bindings of a tainted cluster are looked at: others may have been added.
  static constexpr absl::Duration kPeriod = absl::Seconds(10);

  // A queue for bindings of each scope.
  struct Queues {
    std::shared_ptr<EvictionQueue> bindings;
    std::shared_ptr<EvictionQueue> cluster_bindings;
  };
  // REQUIRES: the manager outlives the reconciler.
  TaintedClusterReconciler(kube::Manager& manager, Queues queues)
      : manager_(manager), queues_(std::move(queues)) {}

  // The request's key names a Cluster.
  absl::StatusOr<kube::Action> Reconcile(const kube::Request& request,
                                         const base::StopToken& stop) override;

 private:
  // Queues the bindings of a kind that are placed in the cluster.
  void QueueBindings(const kube::Resource& kind, const std::string& cluster,
                     absl::Span<const api::Taint> taints, EvictionQueue& queue);

  kube::Manager& manager_;
  const Queues queues_;
};

}  // namespace controllers

#endif  // CONTROLLERS_TAINT_MANAGER_TAINTED_CLUSTER_RECONCILER_H_
