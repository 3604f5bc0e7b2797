// The arithmetic of a Deployment's rollout, without an API: how many replicas each ReplicaSet gets
// next, and the status.
#ifndef SANDBOX_SIM_ROLLOUT_H_
#define SANDBOX_SIM_ROLLOUT_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "base/json.h"
#include "kube/meta/object.h"

namespace sandbox {

struct RolloutLimits {
  int64_t max_surge = 0;
  int64_t max_unavailable = 0;
};
// Reads spec.strategy: percentages are of spec.replicas; the surge is rounded up, the unavailable
// down; at least one of the two is not 0.
RolloutLimits LimitsOf(const kube::Object& deployment);

// The figures of a ReplicaSet that a rollout needs.
struct SetState {
  int64_t wanted = 0;  // spec.replicas
  int64_t actual = 0;  // status.replicas
  int64_t ready = 0;
  int64_t available = 0;

  static SetState Of(const kube::Object& set);
};

struct RolloutState {
  int64_t replicas = 0;  // The replicas of the Deployment.
  RolloutLimits limits;
  SetState current;           // The ReplicaSet of the present template.
  std::vector<SetState> old;  // Sets of earlier templates, the oldest first.
};

// One step of a rolling update: the `wanted` of each set. It scales up first, and down in a later
// step.
struct RolloutStep {
  int64_t current = 0;
  std::vector<int64_t> old;
};
RolloutStep NextStep(const RolloutState& state);

// Returns the status of `deployment`. `current_name` names the ReplicaSet of the present template.
json::Value RolloutStatus(const kube::Object& deployment, const RolloutState& state,
                          const std::string& current_name, absl::Time now);
// Returns when the rollout misses its deadline if it makes no progress; InfiniteFuture when it is
// complete.
absl::Time RolloutDeadline(const kube::Object& deployment);

}  // namespace sandbox

#endif  // SANDBOX_SIM_ROLLOUT_H_
