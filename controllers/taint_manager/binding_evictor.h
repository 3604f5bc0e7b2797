// Decides whether a binding has to leave a tainted cluster, and evicts it.
#ifndef CONTROLLERS_TAINT_MANAGER_BINDING_EVICTOR_H_
#define CONTROLLERS_TAINT_MANAGER_BINDING_EVICTOR_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "api/binding.h"
#include "api/cluster.h"
#include "base/stop_token.h"
#include "config/options.h"
#include "controllers/taint_manager/eviction_queue.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/manager.h"

namespace controllers {

// Returns how long the binding may stay in a cluster with these NoExecute taints, as
// api::RemainingToleration. The tolerations are those of the placement by which the scheduler has
// placed it last (annotation policy.karmada.io/applied-placement), not those of the spec.
// kFailedPrecondition when that annotation is missing, kInvalidArgument when it cannot be read.
absl::StatusOr<absl::Duration> RemainingStay(const kube::Object& binding,
                                             absl::Span<const api::Taint> no_execute,
                                             absl::Time now);

// For bindings of one scope. Thread-safe.
template <class Scope>
class BindingEvictor {
 public:
  // REQUIRES: the manager outlives this object.
  BindingEvictor(kube::Manager& manager, const config::Options& options);

  // Looks at one binding and one cluster as they are now.
  absl::StatusOr<EvictionOutcome> Look(const kube::Request& request, const base::StopToken& stop);

 private:
  // Writes the task.
  absl::Status Evict(const kube::ObjectPtr& binding, const std::string& cluster,
                     const base::StopToken& stop);
  std::string PurgeMode(const json::Value& cluster_failover) const;

  kube::Manager& manager_;
  const std::string default_purge_mode_;
  const bool keeps_state_;
  kube::EventRecorder recorder_;
};

}  // namespace controllers

#endif  // CONTROLLERS_TAINT_MANAGER_BINDING_EVICTOR_H_
