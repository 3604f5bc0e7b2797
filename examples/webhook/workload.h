// Interprets Workloads (workload.example.io/v1alpha1) for Karmada: this is the part that you would
// write for a kind of your own.
//
// A Workload runs `spec.replicas` pods of `spec.template`; a member may set `spec.paused` to pause
// it, and reports `status.readyReplicas`.
//
// Each function takes the `request` of a message and returns the members of the `response` that its
// operation needs. Errors are for the author of the object: kInvalidArgument.
#ifndef EXAMPLES_WEBHOOK_WORKLOAD_H_
#define EXAMPLES_WEBHOOK_WORKLOAD_H_

#include "absl/status/statusor.h"
#include "base/json.h"

namespace example {

// Returns the number of replicas, and what one of them needs.
absl::StatusOr<json::Value> Replicas(const json::Value& request);
// Returns the same as Replicas, as a list with one component.
absl::StatusOr<json::Value> Components(const json::Value& request);
// Returns a patch that sets the replicas of one cluster.
absl::StatusOr<json::Value> ReviseReplica(const json::Value& request);
// Returns a patch that keeps `spec.paused` as the member has it.
absl::StatusOr<json::Value> Retain(const json::Value& request);
// Returns a patch that writes the sum of the members' status.
absl::StatusOr<json::Value> AggregateStatus(const json::Value& request);
// Returns the ConfigMaps and Secrets that the pods mount.
absl::StatusOr<json::Value> Dependencies(const json::Value& request);
// Returns the part of the member's status that others need, as `rawStatus`.
absl::StatusOr<json::Value> Status(const json::Value& request);
// Returns healthy when all replicas are ready.
absl::StatusOr<json::Value> Health(const json::Value& request);
// Returns a patch that removes the annotation which is only for the control plane.
absl::StatusOr<json::Value> Prune(const json::Value& request);

}  // namespace example

#endif  // EXAMPLES_WEBHOOK_WORKLOAD_H_
