// Checks a list of dependencies, whichever layer made it.
#ifndef INTERPRETER_DEPENDENCY_VALIDATION_H_
#define INTERPRETER_DEPENDENCY_VALIDATION_H_

#include "absl/status/status.h"
#include "base/json.h"

namespace interpreter {

// OK, or kInvalidArgument with every violation in upstream's words ("dependencies[0].kind: Invalid
// value:
// "": missing required kind"; several as "[a, b]"). Each reference needs apiVersion and kind, and a
// name or a valid label selector.
absl::Status ValidateDependencies(const json::Value& dependencies);

}  // namespace interpreter

#endif  // INTERPRETER_DEPENDENCY_VALIDATION_H_
