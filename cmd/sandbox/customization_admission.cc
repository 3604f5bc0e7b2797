#include "cmd/sandbox/customization_admission.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "api/keys.h"
#include "api/resources.h"
#include "base/status.h"
#include "interpreter/customized/customization.h"
#include "kube/meta/selector.h"
#include "lua/script.h"
#include "sandbox/sim/karmada_admission.h"

namespace cmd {
namespace {

using interpreter::Operation;
using interpreter::customized::ScriptField;

std::string Webhook() {
  return absl::StrCat("resourceinterpretercustomization", api::kGroupSuffix);
}

absl::string_view ScriptOf(const kube::Object& customization, const ScriptField& field) {
  return customization.spec()["customizations"][field.name]["luaScript"].AsString();
}

std::string NameOf(const ScriptField& field) {
  return absl::StrCat("InterpreterOperation(", interpreter::OperationName(field.operation), ")");
}

// Follows upstream's validateCustomizationRule.
absl::Status CheckAgainst(const kube::Object& other, const kube::Object& customization) {
  if (other.spec()["target"] != customization.spec()["target"]) return absl::OkStatus();
  for (const ScriptField& field : interpreter::customized::ScriptFields()) {
    if (field.operation == Operation::kInterpretDependency) continue;
    if (ScriptOf(other, field).empty() || ScriptOf(customization, field).empty()) continue;
    return sandbox::Denied(
        Webhook(),
        {absl::StrCat("conflicting with ", NameOf(field),
                      " of existing ResourceInterpreterCustomization(", other.name(), ")")});
  }
  return absl::OkStatus();
}

// Follows upstream's checkCustomizationsRule: scripts are compiled and not run.
absl::Status CheckScripts(const kube::Object& customization) {
  for (const ScriptField& field : interpreter::customized::ScriptFields()) {
    const absl::string_view text = ScriptOf(customization, field);
    if (text.empty()) continue;
    const auto compiled =
        lua::Script::Compile(absl::StrCat(customization.name(), "/", field.name), text);
    if (compiled.ok()) continue;
    return sandbox::Denied(
        Webhook(),
        {absl::StrCat(NameOf(field), " Lua script error: ", compiled.status().message())});
  }
  return absl::OkStatus();
}

}  // namespace

sandbox::AdmissionHook CustomizationAdmission(sandbox::Backend& backend) {
  return
      [&backend](const sandbox::AdmissionRequest& request, kube::Object& object) -> absl::Status {
        const kube::Resource& customizations = api::InterpreterCustomizations();
        if (request.resource.gvk != customizations.gvk || !request.subresource.empty() ||
            request.verb == sandbox::Verbs::kDelete) {
          return absl::OkStatus();
        }
        ASSIGN_OR_RETURN(const auto existing,
                         backend.List(customizations.gvr(), "", kube::LabelSelector()));
        for (const kube::ObjectPtr& other : existing) {
          if (other->name() != object.name()) RETURN_IF_ERROR(CheckAgainst(*other, object));
        }
        return CheckScripts(object);
      };
}

}  // namespace cmd
