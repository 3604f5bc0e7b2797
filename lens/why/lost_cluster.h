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

}  // namespace lens::why

#endif  // LENS_WHY_LOST_CLUSTER_H_
