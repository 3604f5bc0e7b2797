#include "lens/plan/template_uid.h"

namespace lens::plan {

void SetUid(const std::string& uid, kube::Object& object) {
  const json::Value chosen(object.uid());
  object.Set({"metadata", "uid"}, uid);
  if (object.gvk().group != "batch" || object.kind() != "Job") return;
  for (const char* key : {"controller-uid", "batch.kubernetes.io/controller-uid"}) {
    if (object.spec().Get({"template", "metadata", "labels", key}) == chosen) {
      object.Set({"spec", "template", "metadata", "labels", key}, uid);
    }
    if (object.spec().Get({"selector", "matchLabels", key}) == chosen) {
      object.Set({"spec", "selector", "matchLabels", key}, uid);
    }
  }
}

}  // namespace lens::plan
