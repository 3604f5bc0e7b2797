#include "absl/strings/match.h"
#include "interpreter/interpreter.h"

namespace interpreter {

absl::string_view OperationName(Operation op) {
  switch (op) {
    case Operation::kInterpretReplica:
      return "InterpretReplica";
    case Operation::kInterpretComponent:
      return "InterpretComponent";
    case Operation::kReviseReplica:
      return "ReviseReplica";
    case Operation::kRetain:
      return "Retain";
    case Operation::kAggregateStatus:
      return "AggregateStatus";
    case Operation::kInterpretDependency:
      return "InterpretDependency";
    case Operation::kInterpretStatus:
      return "InterpretStatus";
    case Operation::kInterpretHealth:
      return "InterpretHealth";
    case Operation::kPrune:
      return "Prune";
  }
  return "";
}

std::optional<Operation> OperationNamed(absl::string_view name) {
  for (const Operation op : kAllOperations) {
    if (absl::EqualsIgnoreCase(OperationName(op), name)) return op;
  }
  return std::nullopt;
}

}  // namespace interpreter
