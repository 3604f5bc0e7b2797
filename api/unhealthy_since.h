// Since when a workload is unhealthy in a cluster: a condition of its binding, of type
// "<cluster>/Unhealthy", whose lastTransitionTime is that moment. Application failover counts from
// there. Upstream keeps the moment in memory.
//
// Only bindings that ask for application failover have such conditions, and only for clusters of
// spec.clusters. A condition is written together with the status that calls the workload unhealthy,
// and removed together with the one that calls it healthy. It stays while the health is unknown or
// no status is collected: a health rule that fails now and then, or an agent that restarts, says
// nothing about the workload.
#ifndef API_UNHEALTHY_SINCE_H_
#define API_UNHEALTHY_SINCE_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/json.h"
#include "kube/meta/object.h"

namespace api {

// Returns whether spec.failover.application is set.
bool AsksForApplicationFailover(const kube::Object& binding);

// Returns when the workload became unhealthy in the cluster, without having been healthy there
// since; nullopt when nothing is recorded. Whether it is unhealthy now is for the status to say.
std::optional<absl::Time> UnhealthySince(const kube::Object& binding, absl::string_view cluster);

// Brings the conditions of `after` in line with its status.aggregatedStatus. A moment stays unless
// the workload is healthy there now or was so in `before`, the binding as the server has it; a new
// one is `now`, rounded up to seconds.
void RecordUnhealthy(const kube::Object& before, kube::Object& after, absl::Time now);

}  // namespace api

#endif  // API_UNHEALTHY_SINCE_H_
