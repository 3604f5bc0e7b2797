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
#include "kube/meta/object.h"
#include "lua/value.h"

namespace interpreter::customized {

// All functions take the results of the script's function in order; errors are kInvalidArgument.

// Reads a number, truncated to a 32-bit integer, and ReplicaRequirements or nil.
absl::StatusOr<Replicas> ReplicasIn(absl::Span<const lua::Value> results);
// Reads components; nil gives null.
absl::StatusOr<json::Value> ComponentsIn(absl::Span<const lua::Value> results);
// Reads an object with a kind.
absl::StatusOr<kube::Object> ObjectIn(absl::Span<const lua::Value> results);
// Reads a table with names; an empty table is an object. (A list would be refused only by the
// server, which cannot name the script.)
absl::StatusOr<json::Value> StatusIn(absl::Span<const lua::Value> results);
// Reads a boolean, and a message (a string) or nil.
absl::StatusOr<Health> HealthIn(absl::Span<const lua::Value> results);
// Reads valid DependentObjectReferences and keeps the script's order.
absl::StatusOr<json::Value> DependenciesIn(absl::Span<const lua::Value> results);

// Returns the references of all lists, each once (selectors are compared by value), sorted by
// apiVersion, kind, namespace, name and selector.
json::Value UnionOfDependencies(const std::vector<json::Value>& lists);

}  // namespace interpreter::customized

#endif  // INTERPRETER_CUSTOMIZED_SCRIPT_RESULTS_H_
