#include "cmd/sandbox/customization_admission.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "api/keys.h"
#include "api/resources.h"
#include "base/status.h"
#include "interpreter/check/upstream_admission.h"
#include "kube/meta/selector.h"
#include "sandbox/sim/karmada_admission.h"

namespace cmd {
namespace {

// Returns a denial for this reason; OK for "".
absl::Status Denial(const std::string& reason) {
  if (reason.empty()) return absl::OkStatus();
  return sandbox::Denied(absl::StrCat("resourceinterpretercustomization", api::kGroupSuffix),
                         {reason});
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
          if (other->name() == object.name()) continue;
          RETURN_IF_ERROR(Denial(interpreter::check::ConflictWith(*other, object)));
        }
        return Denial(interpreter::check::CompileErrorOf(object));
      };
}

}  // namespace cmd
