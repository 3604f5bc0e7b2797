// The loop that taints clusters by ClusterTaintPolicies (upstream's
// cluster-taint-policy-controller).
#ifndef CONTROLLERS_CLUSTER_TAINT_POLICY_CLUSTER_TAINT_POLICY_RECONCILER_H_
#define CONTROLLERS_CLUSTER_TAINT_POLICY_CLUSTER_TAINT_POLICY_RECONCILER_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/stop_token.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/reconciler.h"

namespace controllers {

class ClusterTaintPolicyReconciler : public kube::Reconciler {
 public:
  // REQUIRES: the manager outlives the reconciler.
  explicit ClusterTaintPolicyReconciler(kube::Manager& manager);

  // The request's key names a Cluster; that of a request with a reason, a ClusterTaintPolicy.
  absl::StatusOr<kube::Action> Reconcile(const kube::Request& request,
                                         const base::StopToken& stop) override;

 private:
  // Records a condition that can never match as an event on the policy.
  void ReportUnmatchable(const kube::ObjectKey& policy);

  kube::Manager& manager_;
  kube::EventRecorder recorder_;
};

}  // namespace controllers

#endif  // CONTROLLERS_CLUSTER_TAINT_POLICY_CLUSTER_TAINT_POLICY_RECONCILER_H_
