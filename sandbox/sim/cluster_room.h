// How many replicas fit a Cluster: the estimator inside karmada-scheduler, which knows nothing but
// what the Cluster reports.
#ifndef SANDBOX_SIM_CLUSTER_ROOM_H_
#define SANDBOX_SIM_CLUSTER_ROOM_H_

#include <cstdint>

#include "base/json.h"
#include "kube/meta/object.h"

namespace sandbox {

// Returns how many more replicas with these requirements fit the Cluster, according to its
// resourceSummary. With `by_models`, and when it has counted its nodes by its resource models,
// these count instead of the sums: a replica has to fit one node.
int64_t RoomIn(const kube::Object& cluster, const json::Value& replica_requirements,
               bool by_models = true);

}  // namespace sandbox

#endif  // SANDBOX_SIM_CLUSTER_ROOM_H_
