// The tolerations that count for evictions: those of the placement by which the scheduler has
// placed a binding last, not those of its spec.
#ifndef CONTROLLERS_EVICTION_APPLIED_TOLERATIONS_H_
#define CONTROLLERS_EVICTION_APPLIED_TOLERATIONS_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "api/toleration.h"
#include "config/options.h"
#include "kube/meta/object.h"

namespace controllers {

// Reads the annotation policy.karmada.io/applied-placement. kFailedPrecondition when it is missing,
// kInvalidArgument when it cannot be read.
absl::StatusOr<std::vector<api::Toleration>> AppliedTolerations(const kube::Object& binding);

// Returns whether the flags make the taint manager evict: its two switches, the gate Failover and
// the controller "cluster" have to be on.
bool TaintManagerEvicts(const config::Options& options);

// The times (timeAdded) of the first and the last of some taints.
struct TaintTimes {
  absl::Time first, last;
};

// Returns the first and the last timeAdded of the NoExecute taints whose toleration has run out in
// a cluster that the scheduler may still choose; the taint manager, if it works, would evict from
// there at once. nullopt when there are none. `tolerations` are AppliedTolerations.
std::optional<TaintTimes> OverdueTaints(const std::vector<api::Toleration>& tolerations,
                                        const kube::Object& cluster, absl::Time now);

}  // namespace controllers

#endif  // CONTROLLERS_EVICTION_APPLIED_TOLERATIONS_H_
