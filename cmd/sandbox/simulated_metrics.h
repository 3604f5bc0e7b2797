// metrics.k8s.io of a member, and of all members at the control plane: plausible use of CPU and
// memory, made up from what pods request.
#ifndef CMD_SANDBOX_SIMULATED_METRICS_H_
#define CMD_SANDBOX_SIMULATED_METRICS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/json.h"
#include "kube/meta/object.h"
#include "sandbox/api_server.h"

namespace cmd {

// Returns the PodMetrics of a pod that runs: each container uses 60 to 90 percent of its requests,
// or of 10m and 32Mi where it has none. The share follows from the pod's name, so that it is the
// same each time.
json::Value MetricsOfPod(const kube::Object& pod, absl::Time now);

// Lets a server answer for pods and nodes of metrics.k8s.io/v1beta1, which is in its discovery from
// then on. REQUIRES: called once; nothing else serves that group.
absl::Status ServeMetrics(sandbox::ApiServer& server);

// Lets the control plane answer for the pods of all members, as karmada-metrics-adapter does, so
// that FederatedHPAs have numbers. The discovery does not list them. REQUIRES: the members outlive
// the control plane.
void ServeMetricsOfMembers(sandbox::ApiServer& control_plane,
                           std::vector<sandbox::ApiServer*> members);

}  // namespace cmd

#endif  // CMD_SANDBOX_SIMULATED_METRICS_H_
