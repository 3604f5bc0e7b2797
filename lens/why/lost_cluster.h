// What there is to say of a cluster that is not ready, and of what a template has there.
#ifndef LENS_WHY_LOST_CLUSTER_H_
#define LENS_WHY_LOST_CLUSTER_H_

#include <string>

#include "base/json.h"
#include "kube/meta/object.h"
#include "lens/why/chain.h"

namespace lens::why {

// Returns " since 2026-01-01T11:00:00Z"; "" of a condition that does not record it.
std::string Since(const json::Value& condition);

// Returns "2 of its 4 replicas are meant for it; " when the cluster has a share of the template's
// replicas, else "".
std::string ShareOf(const Chain& chain, const std::string& cluster);

// Returns why a workload is not moved away from the cluster: a sentence without its full stop.
std::string WhyItStays(const kube::Object& cluster);

// Returns what to do about a cluster in push mode for which there is no client; `why` is the
// message that says so, "" when the Cluster shows it.
std::string AdviceForNoClient(const kube::Object& cluster, absl::string_view why);
// Returns what to do about a cluster in push mode that is not ready, by its condition and the last
// event that has the cause.
std::string AdviceForNotReady(const Chain& chain, const kube::Object& cluster);

}  // namespace lens::why

#endif  // LENS_WHY_LOST_CLUSTER_H_
