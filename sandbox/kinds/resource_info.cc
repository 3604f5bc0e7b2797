#include "sandbox/kinds/resource_info.h"

namespace sandbox {
namespace {

void RenameMember(json::Value& root, absl::string_view from, absl::string_view to) {
  const json::Value* found = root.Find(from);
  if (found == nullptr) return;
  json::Value moved = *found;
  root.Erase(from);
  root.Set(to, std::move(moved));
}

}  // namespace

std::vector<std::string> ResourceInfo::Verbs() const {
  if (review) return {"create"};
  return {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
}

std::shared_ptr<const kube::server::TablePrinter> ResourceInfo::Printer() const {
  return custom ? kube::server::PrinterOf(columns) : kube::server::PrinterOf(resource.gvk);
}

kube::server::FieldLabels ResourceInfo::Fields() const {
  if (!custom) return kube::server::FieldLabels::Of(resource.gvk);
  return kube::server::FieldLabels::OfCustom(resource.namespaced, selectable_fields);
}

kube::ObjectPtr ResourceInfo::ToServed(const kube::ObjectPtr& stored) const {
  if (stored == nullptr || resource.gvk == stored_as) return stored;
  kube::Object out = *stored;
  out.Set({"apiVersion"}, resource.gvk.ApiVersion());
  for (const auto& [in_storage, in_version] : renames) {
    RenameMember(out.mutable_root(), in_storage, in_version);
  }
  if (convert_to_served != nullptr) convert_to_served(out.mutable_root());
  return kube::Share(std::move(out));
}

kube::Object ResourceInfo::ToStored(kube::Object served) const {
  if (resource.gvk == stored_as) return served;
  served.Set({"apiVersion"}, stored_as.ApiVersion());
  for (const auto& [in_storage, in_version] : renames) {
    RenameMember(served.mutable_root(), in_version, in_storage);
  }
  if (convert_to_stored != nullptr) convert_to_stored(served.mutable_root());
  return served;
}

}  // namespace sandbox
