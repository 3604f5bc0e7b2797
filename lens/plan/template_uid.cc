#include "lens/plan/template_uid.h"

#include <utility>

#include "api/binding.h"
#include "api/object_reference.h"
#include "base/status.h"
#include "sandbox/sim/writes.h"

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

absl::Status NameTemplateOfHere(sandbox::Backend& backend, kube::Object& binding) {
  const api::ObjectReference reference = api::BindingView(binding).Resource();
  const kube::Resource resource = backend.Find(reference.gvk());
  if (resource.gvk.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const kube::ObjectPtr object,
                   sandbox::FindObject(backend, resource.gvr(), reference.key()));
  const std::string there = binding.spec()["resource"]["uid"].ToString();
  if (object == nullptr || object->uid() == there) return absl::OkStatus();
  binding.Set({"spec", "resource", "uid"}, object->uid());
  json::Value owners = json::Value::Array();
  for (json::Value owner : binding.metadata()["ownerReferences"].items()) {
    if (owner["uid"].AsString() == there) owner.Set("uid", object->uid());
    owners.Append(std::move(owner));
  }
  binding.Set({"metadata", "ownerReferences"}, std::move(owners));
  return absl::OkStatus();
}

}  // namespace lens::plan
