#include "works/ownership.h"

#include "api/keys.h"

namespace works {
namespace {

bool NamesWorkOf(const kube::Object& manifest, const kube::Object& observed) {
  const absl::string_view ns = manifest.Annotation(api::kWorkNamespaceAnnotation);
  const absl::string_view name = manifest.Annotation(api::kWorkNameAnnotation);
  return !name.empty() && observed.Annotation(api::kWorkNameAnnotation) == name &&
         observed.Annotation(api::kWorkNamespaceAnnotation) == ns;
}

}  // namespace

bool IsManaged(const kube::Object& object) {
  return object.Label(api::kManagedLabel) == api::kManagedValue;
}

bool IsKarmadas(const kube::Object& manifest, const kube::Object& observed) {
  return IsManaged(observed) || NamesWorkOf(manifest, observed);
}

bool Overwrites(const kube::Object& manifest) {
  return manifest.Annotation(api::kConflictResolutionAnnotation) == api::kConflictOverwrite;
}

}  // namespace works
