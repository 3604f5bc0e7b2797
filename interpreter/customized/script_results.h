// Turns what scripts return into the interpreter's types, per operation. The accepted forms are
// those of upstream's luavm and declarative configurable interpreter; messages say in Lua's words
// what was returned instead: `returned the string "yes", not a boolean`.
#ifndef INTERPRETER_CUSTOMIZED_SCRIPT_RESULTS_H_
#define INTERPRETER_CUSTOMIZED_SCRIPT_RESULTS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/json.h"
#include "interpreter/interpreter.h"
#include "lua/value.h"

namespace interpreter::customized {

// Reads the answer from the results of the script's function, in their order; kInvalidArgument when
// they are not of the operation's form:
//   InterpretReplica     a number, truncated to a 32-bit integer, and ReplicaRequirements or nil
//   InterpretComponent   components; nil gives null
//   ReviseReplica, Retain, AggregateStatus   an object with a kind
//   InterpretDependency  valid DependentObjectReferences, whose order is kept
//   InterpretStatus      a table with names; an empty table is an object. (A list would be refused
//                        only by the server, which cannot name the script.)
//   InterpretHealth      a boolean, and a message (a string) or nil
absl::StatusOr<Answer> AnswerIn(Operation op, absl::Span<const lua::Value> results);

// Returns the references of all lists, each once (selectors are compared by value), sorted by
// apiVersion, kind, namespace, name and selector.
json::Value UnionOfDependencies(const std::vector<json::Value>& lists);

}  // namespace interpreter::customized

#endif  // INTERPRETER_CUSTOMIZED_SCRIPT_RESULTS_H_
