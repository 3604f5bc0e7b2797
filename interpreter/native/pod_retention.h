// What a Pod keeps of the member's object when its template is written again.
#ifndef INTERPRETER_NATIVE_POD_RETENTION_H_
#define INTERPRETER_NATIVE_POD_RETENTION_H_

#include "absl/status/statusor.h"
#include "kube/meta/object.h"

namespace interpreter::native {

// Returns `desired` with the spec that is to be written over that of `observed`. kInvalidArgument
// when a field that it reads is of a wrong type.
absl::StatusOr<kube::Object> RetainPod(const kube::Object& desired, const kube::Object& observed);

// As RetainPod, by upstream's rule: node, service account, volumes and mounts are the member's, all
// else is the template's.
absl::StatusOr<kube::Object> RetainPodAsUpstream(const kube::Object& desired,
                                                 const kube::Object& observed);

}  // namespace interpreter::native

#endif  // INTERPRETER_NATIVE_POD_RETENTION_H_
