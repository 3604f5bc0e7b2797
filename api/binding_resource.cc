#include "api/binding_resource.h"

#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/names.h"
#include "base/status.h"

namespace api {
namespace {

absl::Status Refused(const kube::Object& binding, absl::string_view why) {
  return base::Terminal(absl::PermissionDeniedError(absl::StrCat(
      binding.Describe(), " names ", BindingView(binding).Resource().Describe(), ", ", why,
      ": nothing is done for it. Delete this binding, and propagate the object by a policy of its "
      "own namespace (a ClusterPropagationPolicy if it has none); what the binding has in members "
      "stays there")));
}

}  // namespace

bool MayStandForResource(const kube::Object& binding) {
  const absl::string_view ns = binding.ns();
  if (ns.empty()) return true;
  return binding.spec()["resource"]["namespace"].AsString() == ns && !IsReservedNamespace(ns);
}

absl::Status CheckBindingResource(const kube::Object& binding, const kube::Resource* kind) {
  if (!MayStandForResource(binding)) {
    if (IsReservedNamespace(binding.ns())) {
      return Refused(binding, "which is in a namespace of Karmada's own");
    }
    return Refused(binding, BindingView(binding).Resource().ns.empty()
                                ? "which has no namespace"
                                : "which is in another namespace");
  }
  if (kind != nullptr && !binding.ns().empty() && !kind->namespaced) {
    return Refused(binding, "whose kind has no namespaces");
  }
  return absl::OkStatus();
}

}  // namespace api
