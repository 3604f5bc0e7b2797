// The arithmetic of a Deployment's rollout, free of any API: how many replicas each ReplicaSet
// should have next, and what the status says.
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
// Reads spec.strategy: percentages of spec.replicas, the surge rounded up, the unavailable down; at
// least one of the two is not 0.
RolloutLimits LimitsOf(const kube::Object& deployment);

// A ReplicaSet as a rollout sees it.
struct SetState {
  int64_t wanted = 0;  // spec.replicas
  int64_t actual = 0;  // status.replicas
  int64_t ready = 0;
  int64_t available = 0;

  static SetState Of(const kube::Object& set);
};

struct RolloutState {
  int64_t replicas = 0;  // The Deployment's.
  RolloutLimits limits;
  SetState current;           // The ReplicaSet of the present template.
  std::vector<SetState> old;  // Oldest first.
};

// One step of a rolling update: the `wanted` of each set; scales up first, down in a later step.
struct RolloutStep {
  int64_t current = 0;
  std::vector<int64_t> old;
};
RolloutStep NextStep(const RolloutState& state);

// The status of `deployment`. `current_name` names the ReplicaSet of the present template.
json::Value RolloutStatus(const kube::Object& deployment, const RolloutState& state,
                          const std::string& current_name, absl::Time now);
// Returns when the rollout misses its deadline if nothing moves; InfiniteFuture when it is
// complete.
absl::Time RolloutDeadline(const kube::Object& deployment);

}  // namespace sandbox

#endif  // SANDBOX_SIM_ROLLOUT_H_
