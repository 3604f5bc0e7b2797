// A small karmada-scheduler: decides spec.clusters of ResourceBindings or ClusterResourceBindings.
//
// It supports affinity (clusterAffinity, clusterAffinities in order), tolerations, API enablement,
// eviction tasks, duplicated and divided replicas (static weights, AvailableReplicas, Aggregated)
// spread constraints by cluster and region (those by zone or provider only leave out clusters that
// have none, as upstream), overflow affinities, and room by resource models; as which release of
// Karmada it does so, and with which gates, SchedulingRules say. It does not support workload
// affinity: such bindings get Scheduled=False. The room for whole sets of components
// (MultiplePodTemplatesScheduling) it does not estimate.
#ifndef SANDBOX_SIM_BINDING_SCHEDULER_H_
#define SANDBOX_SIM_BINDING_SCHEDULER_H_

#include <cstdint>
#include <map>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "kube/meta/object.h"
#include "sandbox/sim/cluster_selection.h"
#include "sandbox/sim/controller.h"

namespace sandbox {

class BindingScheduler {
 public:
  // `bindings` is ResourceBindings or ClusterResourceBindings. REQUIRES: `backend` and `loop`
  // outlive this object, and the Karmada kinds are served.
  BindingScheduler(Backend& backend, EventLoop& loop, const kube::Resource& bindings,
                   const SchedulingRules& rules);

 private:
  void OnBinding(const Event& event);
  void OnCluster(const Event& event);
  absl::Status RequeueFor(const kube::ObjectKey& cluster);
  absl::Status Reconcile(const kube::ObjectKey& key);
  absl::Status Schedule(const kube::Object& binding);
  // Writes clusters and the applied placement when they differ; returns the binding as it is
  // afterwards.
  absl::StatusOr<kube::ObjectPtr> WriteResult(const kube::Object& binding,
                                              const Placement& placement);
  absl::Status WriteStatusOf(const kube::Object& binding, int64_t generation,
                             const Placement& placement);
  // Writes upstream's events about the outcome on the binding and on its template.
  void RecordOutcome(const kube::Object& binding, const Placement& placement);
  bool IsTargetDeleted(const kube::Object& binding);
  // The priority of a waiting binding; 0 for one that has none.
  int64_t PriorityOf(const kube::ObjectKey& key);

  Backend& backend_;
  const kube::Resource bindings_;
  const SchedulingRules rules_;
  absl::Mutex mu_;
  // The states before and after of Clusters whose bindings have to be checked again.
  std::map<kube::ObjectKey, std::vector<kube::ObjectPtr>> changed_ ABSL_GUARDED_BY(mu_);
  Controller clusters_;
  Controller controller_;
};

// The reason why a binding needs scheduling now.
enum class ScheduleReason { kNone, kPlacement, kReplicas, kRescheduled, kAlways };
ScheduleReason ReasonToSchedule(const kube::Object& binding);

}  // namespace sandbox

#endif  // SANDBOX_SIM_BINDING_SCHEDULER_H_
