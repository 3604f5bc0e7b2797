#include "works/release.h"

#include "api/keys.h"
#include "base/status.h"
#include "kube/client/errors.h"

namespace works {
namespace {

// Removes the labels and annotations that mark an object as Karmada's (upstream's
// preserveResourcesOnDeletion clean-up).
void RemoveMarks(kube::Object& manifest) {
  const bool namespaced = !manifest.ns().empty();
  for (const char* label :
       {namespaced ? api::kPropagationPolicyIdLabel : api::kClusterPropagationPolicyIdLabel,
        api::kResourceBindingIdLabel, api::kWorkIdLabel, api::kManagedLabel}) {
    manifest.EraseLabel(label);
  }
  for (const char* annotation :
       {api::kManagedAnnotationsAnnotation, api::kManagedLabelsAnnotation,
        api::kTemplateUidAnnotation, api::kTemplateGenerationAnnotation,
        api::kResourceBindingNamespaceAnnotation, api::kResourceBindingNameAnnotation,
        api::kWorkNamespaceAnnotation, api::kWorkNameAnnotation}) {
    manifest.EraseAnnotation(annotation);
  }
  if (namespaced) {
    manifest.EraseAnnotation(api::kPropagationPolicyNamespaceAnnotation);
    manifest.EraseAnnotation(api::kPropagationPolicyNameAnnotation);
    return;
  }
  manifest.EraseAnnotation(api::kClusterPropagationPolicyNameAnnotation);
}

}  // namespace

absl::Status Release(MemberObjects& objects, const std::string& cluster, kube::Object manifest,
                     const base::StopToken& stop) {
  ASSIGN_OR_RETURN(const kube::ObjectPtr observed,
                   objects.FindOfServedKind(cluster, manifest, stop));
  if (observed != nullptr) {
    RemoveMarks(manifest);
    RETURN_IF_ERROR(kube::IgnoreGone(objects.Update(cluster, manifest, observed, stop).status()));
  }
  objects.Forget(cluster, manifest.gvk(), manifest.key());
  return absl::OkStatus();
}

}  // namespace works
