#include "works/ownership.h"

#include <string>

#include "api/keys.h"

namespace works {
namespace {

bool NamesWorkOf(const kube::Object& manifest, const kube::Object& observed) {
  const kube::ObjectKey work = WorkNamedBy(manifest);
  return !work.name.empty() && WorkNamedBy(observed) == work;
}

}  // namespace

bool IsManaged(const kube::Object& object) {
  return object.Label(api::kManagedLabel) == api::kManagedValue;
}

kube::ObjectKey WorkNamedBy(const kube::Object& object) {
  return {std::string(object.Annotation(api::kWorkNamespaceAnnotation)),
          std::string(object.Annotation(api::kWorkNameAnnotation))};
}

bool IsKarmadas(const kube::Object& manifest, const kube::Object& observed) {
  return IsManaged(observed) || NamesWorkOf(manifest, observed);
}

bool Overwrites(const kube::Object& manifest) {
  return manifest.Annotation(api::kConflictResolutionAnnotation) == api::kConflictOverwrite;
}

}  // namespace works
