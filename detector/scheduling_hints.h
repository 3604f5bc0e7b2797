// What a binding asks the scheduler to consider besides the placement.
#ifndef DETECTOR_SCHEDULING_HINTS_H_
#define DETECTOR_SCHEDULING_HINTS_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/json.h"
#include "base/stop_token.h"
#include "kube/cache/cluster_client.h"
#include "kube/meta/object.h"

namespace detector {

// Fields of a ResourceBinding's spec; null stands for none. ClusterResourceBindings have neither.
struct SchedulingHints {
  json::Value priority;         // schedulePriority
  json::Value affinity_groups;  // workloadAffinityGroups
};

// Returns the PriorityClass that the policy's spec.schedulePriority names; "" for none.
absl::string_view PriorityClassOf(const kube::Object& policy);

// Returns schedulePriority for bindings of the policy: the value of the PriorityClass that it names
// (a part of upstream's BuildResourceBinding). kFailedPrecondition when there is no such class,
// kInvalidArgument when the policy takes the name from another source.
absl::StatusOr<json::Value> SchedulePriorityOf(const kube::Object& policy,
                                               kube::ClusterClient& client,
                                               const base::StopToken& stop);

// Returns workloadAffinityGroups for the binding of `object`: what the object has under the label
// keys by which the policy groups workloads (upstream's getWorkloadAffinityGroups).
json::Value AffinityGroupsOf(const kube::Object& policy, const kube::Object& object);

}  // namespace detector

#endif  // DETECTOR_SCHEDULING_HINTS_H_
