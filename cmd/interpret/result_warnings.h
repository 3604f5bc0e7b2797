// What looks like a slip in the result of a script, though the result is accepted.
#ifndef CMD_INTERPRET_RESULT_WARNINGS_H_
#define CMD_INTERPRET_RESULT_WARNINGS_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "interpreter/interpreter.h"
#include "lua/value.h"

namespace cmd::interpret {

// Members that no such struct has, which are left out without a word; replicas that are cut or
// below zero. Empty for a result that is not accepted: that is an error of its own.
std::vector<std::string> WarningsOf(interpreter::Operation op,
                                    absl::Span<const lua::Value> results);

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_RESULT_WARNINGS_H_
