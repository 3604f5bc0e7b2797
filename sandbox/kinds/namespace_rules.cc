#include "sandbox/kinds/namespace_rules.h"

#include "absl/strings/str_cat.h"

namespace sandbox {

GroupName NamespaceTable() { return {"", "namespaces"}; }

bool IsNamespaceKind(const ResourceInfo& info) { return info.table() == NamespaceTable(); }

absl::Status CheckCreateInNamespace(const ResourceInfo& info, const kube::Object& object,
                                    const kube::ObjectPtr& ns) {
  if (ns == nullptr) return NotFound(NamespaceTable(), object.ns());
  if (!ns->IsDeleting()) return absl::OkStatus();
  const absl::Status refused =
      Forbidden(info.name(), object.name(),
                absl::StrCat("unable to create new content in namespace ", object.ns(),
                             " because it is being terminated"));
  ApiError error = ErrorOf(refused);
  error.details.Set(
      "causes", json::Value::Array({json::Value::Object(
                    {{"reason", "NamespaceTerminating"},
                     {"message", absl::StrCat("namespace ", object.ns(), " is being terminated")},
                     {"field", "metadata.namespace"}})}));
  return ToStatus(error);
}

absl::Status CheckNamespaceDeletable(const ResourceInfo& info, const kube::Object& object) {
  if (!IsNamespaceKind(info)) return absl::OkStatus();
  for (absl::string_view kept : {"default", "kube-system", "kube-public"}) {
    if (object.name() == kept) {
      return Forbidden(info.name(), object.name(), "this namespace may not be deleted");
    }
  }
  return absl::OkStatus();
}

bool HoldsNamespace(const ResourceInfo& info, const kube::Object& object) {
  return IsNamespaceKind(info) && !object.spec()["finalizers"].empty();
}

}  // namespace sandbox
