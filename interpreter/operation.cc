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
  }
  return "";
}

}  // namespace interpreter
