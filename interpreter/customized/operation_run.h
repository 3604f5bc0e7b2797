// One operation on given objects, with its results under the names that upstream's tool and test
// data use.
#ifndef INTERPRETER_CUSTOMIZED_OPERATION_RUN_H_
#define INTERPRETER_CUSTOMIZED_OPERATION_RUN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/json.h"
#include "interpreter/interpreter.h"
#include "kube/meta/object.h"

namespace interpreter::customized {

struct OperationInput {
  Operation operation = Operation::kInterpretHealth;
  kube::Object desired;  // empty() when not given. Retain needs both; all others exactly one.
  kube::Object observed;
  AggregatedItems items;  // What AggregateStatus is given.
  int64_t replicas = 0;   // What ReviseReplica is given.
};

struct NamedResult {
  // Retain "retained"; InterpretReplica "replica" and "requires"; InterpretComponent "components";
  // ReviseReplica "revised"; InterpretStatus "status"; AggregateStatus "aggregatedStatus" (the
  // whole object); InterpretHealth "healthy"; InterpretDependency "dependencies"; Prune "pruned".
  std::string name;
  json::Value value;
};

// kInvalidArgument when objects are missing or too many (in upstream's words), kUnimplemented "rule
// is not enabled" when there is no rule for the kind; otherwise the rule's own error.
absl::StatusOr<std::vector<NamedResult>> RunOperation(const OperationInput& input,
                                                      const Backend& backend);
absl::StatusOr<std::vector<NamedResult>> RunOperation(const OperationInput& input,
                                                      const Interpreter& interpreter);

}  // namespace interpreter::customized

#endif  // INTERPRETER_CUSTOMIZED_OPERATION_RUN_H_
