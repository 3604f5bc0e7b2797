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

// Returns when the taints were added because of which the taint manager, if it works, would evict
// the binding at once from the cluster, where the scheduler may place it: the cluster's taints are
// tolerated, but the time for which these, with the effect NoExecute, are tolerated is over.
// nullopt when there are none, and when the tolerations cannot be read.
std::optional<TaintTimes> OverdueTaints(const kube::Object& binding, const kube::Object& cluster,
                                        absl::Time now);

}  // namespace controllers

#endif  // CONTROLLERS_EVICTION_APPLIED_TOLERATIONS_H_
