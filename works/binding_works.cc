#include "works/binding_works.h"

#include "api/keys.h"

namespace works {

kube::Object ObjectOf(const kube::Object& work) {
  return kube::Object(work.Get({"spec", "workload", "manifests"}).At(0));
}

bool ChangedHands(const kube::Object& before, const kube::Object& after) {
  for (const char* name :
       {api::kResourceBindingNamespaceAnnotation, api::kResourceBindingNameAnnotation,
        api::kClusterResourceBindingNameAnnotation}) {
    if (!before.Annotation(name).empty() && before.Annotation(name) != after.Annotation(name)) {
      return true;
    }
  }
  return false;
}

}  // namespace works
