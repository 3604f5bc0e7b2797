// How much memory the objects of one member may take, and what is said when they take more.
#ifndef CONTROLLERS_PROCESS_MEMBER_MEMORY_H_
#define CONTROLLERS_PROCESS_MEMBER_MEMORY_H_

#include <cstdint>
#include <string>

#include "base/metrics.h"
#include "kube/cache/cluster_client.h"
#include "kube/runtime/events.h"

namespace controllers {

// Writes an event on the Cluster, which says that the objects of the member take more than `bytes`
// and what to do. Does not block.
void ReportMemberBytes(const std::string& cluster, int64_t bytes,
                       kube::ClusterClient& control_plane, kube::EventSink& events);
// Counts the same in `karmada_cluster_memory_exceeded_total`.
void CountMemberBytes(const std::string& cluster, metrics::Registry& registry);

}  // namespace controllers

#endif  // CONTROLLERS_PROCESS_MEMBER_MEMORY_H_
