// Finds probable mistakes in the results of scripts that are accepted.
#ifndef CMD_INTERPRET_RESULT_WARNINGS_H_
#define CMD_INTERPRET_RESULT_WARNINGS_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "interpreter/interpreter.h"
#include "lua/value.h"

namespace cmd::interpret {

// Reports unknown members, which are silently left out, and replicas that are truncated or below
// zero. Empty for a result that is not accepted, which is an error of its own.
std::vector<std::string> WarningsOf(interpreter::Operation op,
                                    absl::Span<const lua::Value> results);

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_RESULT_WARNINGS_H_
