// Taking a workload off a cluster: the eviction task in its binding, the state that the next
// cluster gets, and the events about both. Used by all controllers that evict, for ResourceBindings
// and ClusterResourceBindings alike.
//
//   kube::Object after = *binding;
//   Evict(after, {.cluster = "member1", .purge_mode = api::kPurgeGracefully, ...});
//   client.Update(bindings, binding, after, {}, stop);  // A stale binding is a conflict.
#ifndef CONTROLLERS_EVICTION_EVICTION_TASK_H_
#define CONTROLLERS_EVICTION_EVICTION_TASK_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/binding.h"
#include "api/eviction.h"
#include "base/json.h"
#include "kube/meta/object.h"
#include "kube/runtime/event_recorder.h"

namespace controllers {

// Label -> value, for the manifests of the cluster that takes a workload over.
using LabelState = std::map<std::string, std::string>;

// What is asked for. Fields that are "" or empty are left out of the task.
struct Eviction {
  std::string cluster;
  std::string purge_mode;  // api::kPurge*; "" stands for Gracefully.
  std::string reason;      // api::reason::kTaintUntolerated or kApplicationFailure.
  std::string message;
  std::string producer;                         // Who asks: api::kTaintManagerProducer, or a name.
  std::optional<int64_t> grace_period_seconds;  // Unset: --graceful-eviction-timeout.
  std::optional<bool> suppress_deletion;        // True: the task stays until a user ends it.
  LabelState preserved_label_state;
  std::vector<std::string> clusters_before_failover;
};

// Takes the cluster off spec.clusters and appends a task to spec.gracefulEvictionTasks, unless
// there is one for that cluster. Does nothing for a cluster that is not in spec.clusters. The task
// has no creationTimestamp: the graceful eviction controller sets it. Returns whether the binding
// was changed. Upstream: ResourceBindingSpec.GracefulEvictCluster.
bool Evict(kube::Object& binding, const Eviction& eviction);

// Returns the labels that the rules of a policy's statePreservation make of the status that the
// cluster reported; empty without rules. If the workload was moved there with such labels and was
// not healthy since, these are returned (api/preserved_state.h). kFailedPrecondition when there is
// no status yet, or a rule's path finds nothing in it; kInvalidArgument for a path that is none.
// Upstream: BuildPreservedLabelState, which does not look for earlier labels.
absl::StatusOr<LabelState> PreservedLabelState(const json::Value& state_preservation,
                                               const api::BindingView& binding,
                                               absl::string_view cluster);

// Records on the binding and on its template that the cluster could not be evicted. Conflicts and
// cancellations are not outcomes and are not recorded. REQUIRES: the binding is not refused
// (works/refused_bindings.h), so that no object hears of a binding that may not stand for it.
void ReportEvictionFailed(kube::EventRecorder& recorder, const kube::Object& binding,
                          absl::string_view cluster, const absl::Status& why);
// Records on the binding and on its template that the cluster's task has ended. REQUIRES: as above.
void ReportEvicted(kube::EventRecorder& recorder, const kube::Object& binding,
                   absl::string_view cluster);

}  // namespace controllers

#endif  // CONTROLLERS_EVICTION_EVICTION_TASK_H_
