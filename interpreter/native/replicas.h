// Replica counts and what one replica needs, from pod templates.
#ifndef INTERPRETER_NATIVE_REPLICAS_H_
#define INTERPRETER_NATIVE_REPLICAS_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/json.h"
#include "interpreter/interpreter.h"
#include "interpreter/native/typed_fields.h"
#include "kube/meta/object.h"

namespace interpreter::native {

// ReplicaRequirements of a pod spec: node claim, and the resources one pod requests. Null when it
// states neither. Wrong types and malformed quantities go to the errors of the pod spec, whose
// result then means nothing.
json::Value RequirementsOf(Fields& pod_spec, const RequirementRules& rules);

// Replicas from spec.replicas (absent: 0), requirements from spec.template.
absl::StatusOr<Replicas> WorkloadReplicas(const kube::Object& object,
                                          const RequirementRules& rules);

// Sets the integer `spec.<field>` if it exists. kInvalidArgument when it is no integer.
absl::StatusOr<kube::Object> ReviseSpecField(const kube::Object& object, absl::string_view field,
                                             int64_t value);

}  // namespace interpreter::native

#endif  // INTERPRETER_NATIVE_REPLICAS_H_
