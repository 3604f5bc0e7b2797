// A ResourceInterpreterCustomization: for one kind, a Lua script for each operation it customizes.
//
// Reading one never fails as a whole: what is wrong is listed, and what is right works. A script
// that cannot answer is kept with the reason, so that its operation can end with that instead of
// being answered by a lower layer that the user meant to replace.
#ifndef INTERPRETER_CUSTOMIZED_CUSTOMIZATION_H_
#define INTERPRETER_CUSTOMIZED_CUSTOMIZATION_H_

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

// Where in spec.customizations the script of an operation is, and what function it must define.
struct ScriptField {
  Operation operation;
  absl::string_view name;      // "healthInterpretation"
  absl::string_view function;  // "InterpretHealth"
};
// All of them, in the order in which upstream's `karmadactl interpret` lists operations: Retain
// first. (No field customizes Prune.)
absl::Span<const ScriptField> ScriptFields();
// nullptr for an operation that cannot be customized.
const ScriptField* ScriptFieldOf(Operation op);

// Something a user should repair.
struct Problem {
  std::string field;  // "spec.target.kind"; "" when it is about the whole.
  std::string message;
  // "<field>: <message>".
  std::string ToString() const;
  friend bool operator==(const Problem&, const Problem&) = default;
};

// A compiled script named "<customization>/<field>", or why there is none that could answer:
// kInvalidArgument with the compiler's message, or because it cannot have the function of its
// operation (lua::ScriptFacts::MayDefine).
using CompiledScript = absl::StatusOr<std::shared_ptr<const lua::Script>>;

struct Customization {
  std::string name;  // metadata.name
  kube::Gvk target;  // empty() when the object does not name one: then nothing of it is used.
  // The operations with a script that is not empty, usable or not.
  std::map<Operation, CompiledScript> scripts;
  std::vector<Problem> problems;  // In the order of the fields.
};

// Compiles all scripts (some ten microseconds each): keep the result as long as the object does
// not change.
Customization ParseCustomization(const kube::Object& object);

// The customizations of a YAML text of any number of documents. A text that is not YAML gives one
// customization without a target, named `source`, whose problem says where it breaks off.
std::vector<Customization> ParseCustomizations(absl::string_view source, absl::string_view text);

}  // namespace interpreter::customized

#endif  // INTERPRETER_CUSTOMIZED_CUSTOMIZATION_H_
