// Makes the eviction that a binding's spec.failover.application asks for: a pure function.
#ifndef CONTROLLERS_APPLICATION_FAILOVER_FAILOVER_EVICTION_H_
#define CONTROLLERS_APPLICATION_FAILOVER_FAILOVER_EVICTION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "config/feature_gates.h"
#include "controllers/eviction/eviction_task.h"
#include "kube/meta/object.h"

namespace controllers {

// Returns how long a workload may be unhealthy: decisionConditions.tolerationSeconds, 300 when it
// is missing.
absl::Duration TolerationOf(const kube::Object& binding);

// Returns the clusters of status.aggregatedStatus that are unhealthy and have no eviction task.
std::vector<std::string> UnhealthyClusters(const kube::Object& binding);

// Returns the eviction of the workload from the cluster, as upstream's buildTaskOptions. A purge
// mode Gracefully without the gate GracefulEviction is kFailedPrecondition; with the gate
// StatefulFailoverInjection the errors are also those of PreservedLabelState.
absl::StatusOr<Eviction> FailoverEviction(const kube::Object& binding, const std::string& cluster,
                                          absl::string_view producer,
                                          const config::FeatureGates& gates);

}  // namespace controllers

#endif  // CONTROLLERS_APPLICATION_FAILOVER_FAILOVER_EVICTION_H_
