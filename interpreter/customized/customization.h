// A ResourceInterpreterCustomization: for one kind, or several, a Lua script for each operation it
// customizes.
//
// Reading one never fails as a whole: each mistake is listed, and the correct parts work. A script
// that cannot answer is kept with the reason, so that its operation fails with that reason instead
// of being answered by a lower layer that the user meant to replace.
#ifndef INTERPRETER_CUSTOMIZED_CUSTOMIZATION_H_
#define INTERPRETER_CUSTOMIZED_CUSTOMIZATION_H_

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "interpreter/interpreter.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "lua/script.h"

namespace interpreter::customized {

// Names the member of spec.customizations with the script of an operation, and the function that
// the script must define.
struct ScriptField {
  Operation operation;
  absl::string_view name;      // "healthInterpretation"
  absl::string_view function;  // "InterpretHealth"
};
// Returns all fields in the order in which upstream's `karmadactl interpret` lists operations:
// Retain first. (No field customizes Prune.)
absl::Span<const ScriptField> ScriptFields();
// Returns nullptr for an operation that cannot be customized.
const ScriptField* ScriptFieldOf(Operation op);

// A mistake that the author of the customization should repair.
struct Problem {
  std::string field;  // "spec.target.kind"; "" when it is about the whole.
  std::string message;
  // "<field>: <message>".
  std::string ToString() const;
  friend bool operator==(const Problem&, const Problem&) = default;
};

// A compiled script named "<customization>/<field>", or the reason why the script cannot answer:
// kInvalidArgument with the compiler's message, or because it cannot have the function of its
// operation (lua::ScriptFacts::MayDefine).
using CompiledScript = absl::StatusOr<std::shared_ptr<const lua::Script>>;

struct Customization {
  std::string name;  // metadata.name
  kube::Gvk target;  // empty() when the object names none; its scripts are then not used for it.
  // The further kinds of spec.additionalTargets, a field that Karmada does not have; "*" as version
  // or kind stands for every one. They count only when customizations are combined (MergeOptions).
  std::vector<kube::Gvk> additional_targets;
  // The operations whose script is not empty, usable or not.
  std::map<Operation, CompiledScript> scripts;
  std::vector<Problem> problems;  // In the order of the fields.
};

// At most so many additional targets of a customization are used; further ones are a problem.
inline constexpr size_t kMaxAdditionalTargets = 64;
// Returns whether an additional target has a wildcard.
bool HasWildcard(const kube::Gvk& target);
// Returns whether an additional target includes the kind. `kind` may have wildcards, too: then it
// returns whether the target includes every kind that these stand for.
bool Covers(const kube::Gvk& target, const kube::Gvk& kind);

// Compiles all scripts (some ten microseconds each): keep the result as long as the object does
// not change.
Customization ParseCustomization(const kube::Object& object);

// Returns the customizations of a YAML text of any number of documents. A text that is not YAML
// gives one customization without a target, named `source`, whose problem names the line of the
// mistake.
std::vector<Customization> ParseCustomizations(absl::string_view source, absl::string_view text);

}  // namespace interpreter::customized

#endif  // INTERPRETER_CUSTOMIZED_CUSTOMIZATION_H_
