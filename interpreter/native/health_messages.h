// Why an object of a built-in kind is not healthy, in a line for people.
//
// The functions are called for objects that are not healthy only, so that those that are cost
// nothing. They read leniently: a member of a wrong type counts as absent, because what matters for
// the health has been checked before.
#ifndef INTERPRETER_NATIVE_HEALTH_MESSAGES_H_
#define INTERPRETER_NATIVE_HEALTH_MESSAGES_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "kube/meta/object.h"

namespace interpreter::native {

// The replicas of a workload.
struct ReplicaCounts {
  int64_t wanted = 0;
  int64_t updated = 0;  // Equals `wanted` for kinds that do not update replicas themselves.
  int64_t available = 0;
  int64_t held = 0;  // So many of `wanted` keep an older template because the user asked for it.
};

// Returns the reason that the workload's own controller gives in a condition (a quota that refuses
// pods, a deadline that has passed), else that the controller has yet to see the object's present
// generation, else the counts.
std::string WhyReplicasAreMissing(const kube::Object& workload, const ReplicaCounts& counts);

// Returns the phase of the Pod and the first reason for it: why a container waits or why the pod
// cannot be scheduled.
std::string WhyPodIsNotReady(const kube::Object& pod);

}  // namespace interpreter::native

#endif  // INTERPRETER_NATIVE_HEALTH_MESSAGES_H_
