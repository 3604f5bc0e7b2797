#include "sandbox/sim/karmada_admission.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/keys.h"
#include "api/resources.h"
#include "base/random.h"
#include "sandbox/kinds/api_errors.h"

namespace sandbox {
namespace {

absl::Status CheckDeletion(const kube::Object& object) {
  if (object.Label(api::kDeletionProtectedLabel) != api::kDeletionProtectedValue) {
    return absl::OkStatus();
  }
  return Denied(absl::StrCat("resourcedeletionprotection", api::kGroupSuffix),
                {absl::StrCat("This resource is protected, please make sure to remove the label: ",
                              api::kDeletionProtectedLabel)});
}

absl::Status CheckDependencies(const kube::Object& binding) {
  const absl::string_view text = binding.Annotation(api::kDependenciesAnnotation);
  if (text.empty() || json::Parse(text).ok()) return absl::OkStatus();
  return Denied(absl::StrCat("resourcebinding", api::kGroupSuffix),
                {absl::StrCat("annotation ", api::kDependenciesAnnotation, " is not valid JSON")});
}

void DefaultSelectorNamespaces(kube::Object& policy) {
  const size_t count = policy.spec()["resourceSelectors"].size();
  for (size_t i = 0; i < count; ++i) {
    json::Value& selector =
        policy.mutable_root().Mutable({"spec", "resourceSelectors"}).MutableAt(i);
    if (selector["namespace"].AsString().empty()) selector.Set("namespace", policy.ns());
  }
}

absl::Status AdmitWorkGroup(const AdmissionRequest& request, kube::Object& object) {
  const bool creating = request.verb == Verbs::kCreate;
  const std::string& kind = request.resource.gvk.kind;
  if (kind == "Work") AdmitWork(object);
  if (kind == "ResourceBinding") {
    if (creating) EnsureId(object, api::kResourceBindingIdLabel);
    return CheckDependencies(object);
  }
  if (kind == "ClusterResourceBinding" && creating) {
    EnsureId(object, api::kClusterResourceBindingIdLabel);
  }
  return absl::OkStatus();
}

absl::Status AdmitPolicyGroup(const AdmissionRequest& request, config::Release release,
                              kube::Object& object) {
  const std::string& kind = request.resource.gvk.kind;
  if (kind == "PropagationPolicy" || kind == "ClusterPropagationPolicy") {
    return AdmitPolicy(request, release, object);
  }
  if (kind == "OverridePolicy") DefaultSelectorNamespaces(object);
  return absl::OkStatus();
}

}  // namespace

AdmissionHook KarmadaAdmission(const base::Clock& clock, config::Release release) {
  return [&clock, release](const AdmissionRequest& request, kube::Object& object) -> absl::Status {
    if (request.verb == Verbs::kDelete) return CheckDeletion(object);
    const kube::Gvk& gvk = request.resource.gvk;
    if (gvk.group == api::Clusters().gvk.group) {
      AdmitCluster(request, object, clock.Now());
      return absl::OkStatus();
    }
    if (!request.subresource.empty()) return absl::OkStatus();
    if (gvk.group == api::Works().gvk.group) return AdmitWorkGroup(request, object);
    if (gvk.group == api::PropagationPolicies().gvk.group) {
      return AdmitPolicyGroup(request, release, object);
    }
    if (gvk == api::FederatedHpas().gvk) AdmitFederatedHpa(object);
    if (gvk == api::MultiClusterServices().gvk) return AdmitMultiClusterService(request, object);
    return absl::OkStatus();
  };
}

void EnsureId(kube::Object& object, absl::string_view label) {
  if (object.Label(label).empty()) object.SetLabel(label, base::NewUuid());
}

absl::Status Denied(absl::string_view webhook, const std::vector<std::string>& messages) {
  if (messages.empty()) return absl::OkStatus();
  const std::string text = messages.size() == 1
                               ? messages.front()
                               : absl::StrCat("[", absl::StrJoin(messages, ", "), "]");
  return ToStatus({403, "Forbidden",
                   absl::StrCat("admission webhook \"", webhook, "\" denied the request: ", text),
                   json::Value()});
}

}  // namespace sandbox
