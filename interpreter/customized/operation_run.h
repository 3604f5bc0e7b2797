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

namespace interpreter::customized {

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

// The question's `object` is the desired object, and empty() when there is none: then the operation
// is about `observed`. Retain needs both objects, all others exactly one. kInvalidArgument when too
// few or too many are given (in upstream's words), kUnimplemented "rule is not enabled" when there
// is no rule for the kind; otherwise the rule's own error.
absl::StatusOr<std::vector<NamedResult>> RunOperation(const Question& question,
                                                      const Backend& backend);
absl::StatusOr<std::vector<NamedResult>> RunOperation(const Question& question,
                                                      const Interpreter& interpreter);

}  // namespace interpreter::customized

#endif  // INTERPRETER_CUSTOMIZED_OPERATION_RUN_H_
