// Runs one operation on given objects; its results have the names that upstream's tool and test
// data use.
#ifndef INTERPRETER_CUSTOMIZED_OPERATION_RUN_H_
#define INTERPRETER_CUSTOMIZED_OPERATION_RUN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/json.h"
#include "interpreter/interpreter.h"
#include "kube/meta/object.h"

namespace interpreter::customized {

struct OperationInput {
  Operation operation = Operation::kInterpretHealth;
  kube::Object desired;  // empty() when absent. Retain needs both, all others exactly one.
  kube::Object observed;
  AggregatedItems items;  // For AggregateStatus.
  int64_t replicas = 0;   // For ReviseReplica.
};

// The name of the result that says why an object is healthy or not.
inline constexpr absl::string_view kHealthMessage = "message";

struct NamedResult {
  // The name is "retained" for Retain; "replica" and "requires" for InterpretReplica; "components"
  // for InterpretComponent; "revised" for ReviseReplica; "status" for InterpretStatus;
  // "aggregatedStatus" (the whole object) for AggregateStatus; "healthy", and "message" if
  // the rule gives one, for InterpretHealth; "dependencies" for InterpretDependency; "pruned" for
  // Prune.
  std::string name;
  json::Value value;
};

// kInvalidArgument when too few or too many objects are given (in upstream's words), kUnimplemented
// "rule is not enabled" when there is no rule for the kind; otherwise the rule's own error.
absl::StatusOr<std::vector<NamedResult>> RunOperation(const OperationInput& input,
                                                      const Backend& backend);
absl::StatusOr<std::vector<NamedResult>> RunOperation(const OperationInput& input,
                                                      const Interpreter& interpreter);

}  // namespace interpreter::customized

#endif  // INTERPRETER_CUSTOMIZED_OPERATION_RUN_H_
