// Which taints a cluster has after all ClusterTaintPolicies were applied to it.
#ifndef CONTROLLERS_CLUSTER_TAINT_POLICY_WANTED_TAINTS_H_
#define CONTROLLERS_CLUSTER_TAINT_POLICY_WANTED_TAINTS_H_

#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "api/cluster.h"
#include "kube/meta/object.h"

namespace controllers {

// Returns the cluster's taints as the policies want them, or nullopt when they are so already. The
// policies are applied from the oldest to the newest (those of one second by name); each first adds
// its taints and then removes them, if its conditions match. New taints get `now` as timeAdded; a
// taint that is there keeps its place, value and timeAdded unless it goes for good.
std::optional<std::vector<api::Taint>> WantedTaints(const api::ClusterView& cluster,
                                                    std::vector<kube::ObjectPtr> policies,
                                                    absl::Time now);

}  // namespace controllers

#endif  // CONTROLLERS_CLUSTER_TAINT_POLICY_WANTED_TAINTS_H_
