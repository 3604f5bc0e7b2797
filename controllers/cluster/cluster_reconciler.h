// The cluster loop: keeps execution namespaces, taints by readiness and finalizers, unjoins
// clusters, and monitors the health of pull clusters (upstream's cluster-controller).
#ifndef CONTROLLERS_CLUSTER_CLUSTER_RECONCILER_H_
#define CONTROLLERS_CLUSTER_CLUSTER_RECONCILER_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "api/blocked_deletion.h"
#include "api/cluster.h"
#include "base/repeated_errors.h"
#include "base/stop_token.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/reconciler.h"

namespace controllers {

class ClusterReconciler : public kube::Reconciler {
 public:
  // REQUIRES: the manager outlives the reconciler.
  explicit ClusterReconciler(kube::Manager& manager);

  // The request's key names a Cluster.
  absl::StatusOr<kube::Action> Reconcile(const kube::Request& request,
                                         const base::StopToken& stop) override;

 private:
  absl::Status EnsureExecutionNamespace(const kube::Object& cluster, const base::StopToken& stop);
  absl::StatusOr<kube::ObjectPtr> UpdateTaints(const kube::ObjectPtr& cluster,
                                               const base::StopToken& stop);
  absl::StatusOr<kube::Action> Finalize(const kube::ObjectPtr& cluster,
                                        const base::StopToken& stop);
  absl::Status ReleaseWorks(const kube::Object& cluster, const base::StopToken& stop);
  // Returns the bindings of both scopes that name the cluster as a target and are not refused.
  std::vector<kube::ObjectPtr> BindingsTo(absl::string_view cluster,
                                          const base::StopToken& stop) const;
  absl::Status TakeOutOf(absl::Span<const kube::ObjectPtr> bindings, const kube::Object& cluster,
                         const base::StopToken& stop);
  // Ends a pass over a cluster that is being removed and has to wait for these objects. A wait that
  // lasts is reported on the Cluster: `message` says what for.
  using WaitMessage = std::string (*)(const kube::Object& cluster, const api::BlockedDeletion&,
                                      absl::Span<const kube::ObjectPtr> objects);
  kube::Action Wait(const kube::Object& cluster, WaitMessage message,
                    absl::Span<const kube::ObjectPtr> objects);
  // Records what became of one step as an event on the Cluster. `reasons`: of success, of failure.
  void Report(const kube::Object& cluster, const absl::Status& result,
              std::pair<const char*, const char*> reasons, const std::string& message);

  kube::Manager& manager_;
  kube::EventRecorder recorder_;
  base::RepeatedErrors waits_;  // That have been reported.
};

// Returns the spec.taints that the Ready condition asks for; nullopt when the present ones are
// right. New taints get `now` as timeAdded.
std::optional<std::vector<api::Taint>> TaintsFor(const api::ClusterView& cluster, absl::Time now);

}  // namespace controllers

#endif  // CONTROLLERS_CLUSTER_CLUSTER_RECONCILER_H_
