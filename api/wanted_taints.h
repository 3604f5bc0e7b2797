// Which taints a cluster has after all ClusterTaintPolicies were applied to it, and which NoExecute
// taints evict before that.
#ifndef API_WANTED_TAINTS_H_
#define API_WANTED_TAINTS_H_

#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "api/cluster.h"
#include "kube/meta/object.h"

namespace api {

// Returns the cluster's taints as the policies want them, or nullopt when they are so already. The
// policies are applied from the oldest to the newest (those of one second by name); each first adds
// its taints and then removes them, if its conditions match. New taints get `now` as timeAdded; a
// taint that is there keeps its place, value and timeAdded unless it is removed for good.
std::optional<std::vector<Taint>> WantedTaints(const ClusterView& cluster,
                                               std::vector<kube::ObjectPtr> policies,
                                               absl::Time now);

// How long after the change of a condition the taints that policies remove are passed over.
inline constexpr absl::Duration kTaintRemovalPatience = absl::Seconds(30);

// Returns the cluster's NoExecute taints without those that are about to be removed: a condition of
// the cluster has changed since such a taint was added, less than kTaintRemovalPatience ago, and
// the policies want it removed as the conditions are now. A cluster that is ready again loses its
// taints in several writes, and a workload that the scheduler has placed there after the first one
// must not be evicted because of one that is old. Upstream evicts it.
std::vector<Taint> StandingNoExecuteTaints(const ClusterView& cluster,
                                           const std::vector<kube::ObjectPtr>& policies,
                                           absl::Time now);

}  // namespace api

#endif  // API_WANTED_TAINTS_H_
