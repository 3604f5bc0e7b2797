// status.loadBalancer of Services and Ingresses, over all members.
#ifndef INTERPRETER_NATIVE_LOAD_BALANCER_H_
#define INTERPRETER_NATIVE_LOAD_BALANCER_H_

#include "absl/status/statusor.h"
#include "interpreter/interpreter.h"
#include "kube/meta/object.h"

namespace interpreter::native {

// The object whose status is the union of the members' entries: one per hostname, ip and ipMode
// with the ports of all, in a fixed order (hostnames first). The rest of the status goes.
absl::StatusOr<kube::Object> AggregateLoadBalancer(const kube::Object& object,
                                                   const AggregatedItems& items);

// {"loadBalancer": ...}, the rest of the status left out.
absl::StatusOr<json::Value> ReflectLoadBalancer(const kube::Object& object);

// Returns whether some entry has a hostname or an ip.
absl::StatusOr<bool> HasLoadBalancer(const kube::Object& object);

}  // namespace interpreter::native

#endif  // INTERPRETER_NATIVE_LOAD_BALANCER_H_
