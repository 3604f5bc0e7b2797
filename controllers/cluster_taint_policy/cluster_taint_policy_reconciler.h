// The loop that taints clusters by ClusterTaintPolicies (upstream's
// cluster-taint-policy-controller).
#ifndef CONTROLLERS_CLUSTER_TAINT_POLICY_CLUSTER_TAINT_POLICY_RECONCILER_H_
#define CONTROLLERS_CLUSTER_TAINT_POLICY_CLUSTER_TAINT_POLICY_RECONCILER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/stop_token.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/reconciler.h"
#include "loops/context.h"

namespace controllers {

class ClusterTaintPolicyReconciler : public kube::Reconciler {
 public:
  // REQUIRES: the manager outlives the reconciler.
  explicit ClusterTaintPolicyReconciler(kube::Manager& manager);

  // The request's key names a Cluster.
  absl::StatusOr<kube::Action> Reconcile(const kube::Request& request,
                                         const base::StopToken& stop) override;

 private:
  // Records, once as an event on the policy, a condition that can never match.
  void ReportUnmatchable(const std::vector<kube::ObjectPtr>& policies);

  kube::Manager& manager_;
  kube::EventRecorder recorder_;
  absl::Mutex mu_;
  // The generation in which a policy was reported, by its uid.
  absl::flat_hash_map<std::string, int64_t> reported_ ABSL_GUARDED_BY(mu_);
};

// Builds the loop.
absl::Status RegisterClusterTaintPolicy(const loops::Context& context, int workers);

}  // namespace controllers

#endif  // CONTROLLERS_CLUSTER_TAINT_POLICY_CLUSTER_TAINT_POLICY_RECONCILER_H_
