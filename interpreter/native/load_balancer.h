// Aggregates status.loadBalancer of Services and Ingresses over all members.
#ifndef INTERPRETER_NATIVE_LOAD_BALANCER_H_
#define INTERPRETER_NATIVE_LOAD_BALANCER_H_

#include "absl/status/statusor.h"
#include "interpreter/interpreter.h"
#include "kube/meta/object.h"

namespace interpreter::native {

// Returns the object with the union of the members' entries as its whole status: one entry per
// hostname, ip and ipMode with the ports of all members, in a fixed order (hostnames first). An ip
// that is new has the form that every API server takes, without leading zeros for example.
absl::StatusOr<kube::Object> AggregateLoadBalancer(const kube::Object& object,
                                                   const AggregatedItems& items);

// Returns {"loadBalancer": ...} without the rest of the status.
absl::StatusOr<json::Value> ReflectLoadBalancer(const kube::Object& object);

// Returns whether some entry has a hostname or an ip.
absl::StatusOr<bool> HasLoadBalancer(const kube::Object& object);

}  // namespace interpreter::native

#endif  // INTERPRETER_NATIVE_LOAD_BALANCER_H_
