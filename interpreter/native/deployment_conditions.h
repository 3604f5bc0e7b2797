// The conditions Available and Progressing of a Deployment, which tools wait for: derived from what
// the members report anyway, so that no cluster has to report more than to upstream.
#ifndef INTERPRETER_NATIVE_DEPLOYMENT_CONDITIONS_H_
#define INTERPRETER_NATIVE_DEPLOYMENT_CONDITIONS_H_

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/json.h"
#include "interpreter/interpreter.h"
#include "kube/meta/object.h"

namespace interpreter::native {

// Returns the conditions of a member's Deployment that its reflected status has: Progressing, when
// the rollout has exceeded its deadline, without the time of its last update; else null.
// kInvalidArgument when they have a wrong type.
absl::StatusOr<json::Value> ReflectMissedDeadline(const kube::Object& member);

// Sets Available and Progressing in the status of `counted`, whose counters are up to date, with
// the types and reasons of Kubernetes' deployment controller (pkg/controller/deployment/util), and
// False over Unknown over True among the clusters, as shipped customizations do. A cluster without
// a status makes them Unknown, with the reason NotReported. Conditions of other types stay.
//
// `before` is the Deployment as it was. Upstream's has neither condition. They are added when
// something else of the status changes, when a cluster reports a missed deadline, and to a settled
// Deployment, which nothing else would change: one whose clusters have all reported, and whose
// generation is observed. A new Deployment is so written no more often than upstream's. From then
// on they are kept up to date.
absl::StatusOr<kube::Object> WithDeploymentConditions(const kube::Object& before,
                                                      kube::Object counted,
                                                      const AggregatedItems& items, absl::Time now);

}  // namespace interpreter::native

#endif  // INTERPRETER_NATIVE_DEPLOYMENT_CONDITIONS_H_
