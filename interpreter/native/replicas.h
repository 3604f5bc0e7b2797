// Reads replica counts, and the requirements of one replica, from workloads.
#ifndef INTERPRETER_NATIVE_REPLICAS_H_
#define INTERPRETER_NATIVE_REPLICAS_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/json.h"
#include "interpreter/interpreter.h"
#include "interpreter/native/typed_fields.h"
#include "kube/meta/object.h"

namespace interpreter::native {

// Returns ReplicaRequirements of a pod spec: node claim, and the resources that one pod requests.
// Null when it has neither. Wrong types and malformed quantities are reported in
// `pod_spec.error()`; then the result is meaningless.
json::Value RequirementsOf(Fields& pod_spec, const RequirementRules& rules);

// Returns replicas from spec.replicas (absent: 0) and requirements from spec.template.
absl::StatusOr<Replicas> WorkloadReplicas(const kube::Object& object,
                                          const RequirementRules& rules);

// Sets the integer `spec.<field>` if it exists. kInvalidArgument when it is not an integer.
absl::StatusOr<kube::Object> ReviseSpecField(const kube::Object& object, absl::string_view field,
                                             int64_t value);

}  // namespace interpreter::native

#endif  // INTERPRETER_NATIVE_REPLICAS_H_
