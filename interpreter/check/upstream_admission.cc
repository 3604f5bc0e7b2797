#include "interpreter/check/upstream_admission.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "interpreter/customized/customization.h"
#include "interpreter/interpreter.h"
#include "lua/script.h"

namespace interpreter::check {
namespace {

using customized::ScriptField;

absl::string_view ScriptOf(const kube::Object& customization, const ScriptField& field) {
  return customization.spec()["customizations"][field.name]["luaScript"].AsString();
}

std::string NameOf(const ScriptField& field) {
  return absl::StrCat("InterpreterOperation(", OperationName(field.operation), ")");
}

}  // namespace

std::string ConflictWith(const kube::Object& other, const kube::Object& customization) {
  if (other.spec()["target"] != customization.spec()["target"]) return "";
  for (const ScriptField& field : customized::ScriptFields()) {
    if (field.operation == Operation::kInterpretDependency) continue;
    if (ScriptOf(other, field).empty() || ScriptOf(customization, field).empty()) continue;
    return absl::StrCat("conflicting with ", NameOf(field),
                        " of existing ResourceInterpreterCustomization(", other.name(), ")");
  }
  return "";
}

std::string CompileErrorOf(const kube::Object& customization) {
  for (const ScriptField& field : customized::ScriptFields()) {
    const absl::string_view text = ScriptOf(customization, field);
    if (text.empty()) continue;
    const auto compiled =
        lua::Script::Compile(absl::StrCat(customization.name(), "/", field.name), text);
    if (compiled.ok()) continue;
    return absl::StrCat(NameOf(field), " Lua script error: ", compiled.status().message());
  }
  return "";
}

}  // namespace interpreter::check
