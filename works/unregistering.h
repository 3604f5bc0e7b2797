// How Works are deleted by `karmadactl unregister`, which takes a cluster in pull mode out of the
// control plane: it deletes all Works of the cluster once a second until it sees none, for a minute
// by default, and gives up otherwise. Then it deletes the Cluster.
#ifndef WORKS_UNREGISTERING_H_
#define WORKS_UNREGISTERING_H_

#include <functional>

#include "absl/time/time.h"
#include "kube/cache/cluster_client.h"
#include "kube/meta/object.h"

namespace works {

// Returns how long a loop that makes a deleted Work again leaves it deleted, for
// Enqueue::removal_delay: in a cluster in pull mode longer than that command takes. (Upstream makes
// no deleted Work again by itself.) REQUIRES: the loop reads Clusters, and the client outlives the
// function.
std::function<absl::Duration(const kube::Object& work)> TimeToUnregister(
    kube::ClusterClient& control_plane);

}  // namespace works

#endif  // WORKS_UNREGISTERING_H_
