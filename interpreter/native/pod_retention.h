// What a Pod in a member keeps of its spec when its template is applied again.
#ifndef INTERPRETER_NATIVE_POD_RETENTION_H_
#define INTERPRETER_NATIVE_POD_RETENTION_H_

#include "absl/status/statusor.h"
#include "kube/meta/object.h"

namespace interpreter::native {

// Returns `desired` with what the member has put into the Pod, which cannot be taken away from a
// Pod that exists; the head of pod_retention.cc lists it, and who writes it. Further than
// upstream's retainPodFields (nodeName, serviceAccountName, volumes and mounts). An error: a member
// that is read has the wrong type.
absl::StatusOr<kube::Object> RetainPod(const kube::Object& desired, const kube::Object& observed);

}  // namespace interpreter::native

#endif  // INTERPRETER_NATIVE_POD_RETENTION_H_
