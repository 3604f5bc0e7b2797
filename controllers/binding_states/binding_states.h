// What of a binding is not as it should be, in which cluster.
#ifndef CONTROLLERS_BINDING_STATES_BINDING_STATES_H_
#define CONTROLLERS_BINDING_STATES_BINDING_STATES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "kube/meta/object.h"

namespace controllers {

enum class BindingState {
  kUnscheduled,  // The scheduler has not placed it, or refuses to. It has no cluster.
  kNotApplied,   // A cluster that is to have it does not, or not in its present state.
  kUnhealthy,    // A cluster has it, and it is not healthy there.
  kSuspended,    // Somebody has suspended its scheduling (no cluster), or dispatching to a cluster.
  kEvicting,     // It is leaving the cluster.
};
// Returns "unscheduled", "not_applied", "unhealthy", "suspended" or "evicting".
absl::string_view NameOf(BindingState state);

struct StateInCluster {
  std::string cluster;  // "" for none.
  BindingState state = BindingState::kUnscheduled;
  // Since when, where the binding records it; absl::InfinitePast() otherwise.
  absl::Time since = absl::InfinitePast();
};

// Returns at most one state for each cluster, in no particular order; none for a binding that is
// fine or is being deleted.
std::vector<StateInCluster> StatesOf(const kube::Object& binding);

}  // namespace controllers

#endif  // CONTROLLERS_BINDING_STATES_BINDING_STATES_H_
