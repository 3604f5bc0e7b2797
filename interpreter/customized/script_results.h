// What scripts return, per operation, as the interpreter's types. The accepted forms are those of
// upstream's luavm and declarative configurable interpreter; messages say in Lua's words what was
// returned instead: `returned the string "yes", not a boolean`.
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

// All take as many results as the function gives; errors are kInvalidArgument.

// A number, cut to a whole one of 32 bits, and ReplicaRequirements or nil.
absl::StatusOr<Replicas> ReplicasIn(absl::Span<const lua::Value> results);
// Components; null for nil.
absl::StatusOr<json::Value> ComponentsIn(absl::Span<const lua::Value> results);
// An object with a kind.
absl::StatusOr<kube::Object> ObjectIn(absl::Span<const lua::Value> results);
// A table with names; an empty one is an object. (A list would be refused by the server, which
// cannot name the script.)
absl::StatusOr<json::Value> StatusIn(absl::Span<const lua::Value> results);
absl::StatusOr<bool> HealthIn(absl::Span<const lua::Value> results);
// Valid DependentObjectReferences, in the script's order.
absl::StatusOr<json::Value> DependenciesIn(absl::Span<const lua::Value> results);

// The references of all lists, each once (selectors count by value), sorted by apiVersion, kind,
// namespace, name and selector.
json::Value UnionOfDependencies(const std::vector<json::Value>& lists);

}  // namespace interpreter::customized

#endif  // INTERPRETER_CUSTOMIZED_SCRIPT_RESULTS_H_
