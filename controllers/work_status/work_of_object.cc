#include "controllers/work_status/work_of_object.h"

#include "absl/strings/str_cat.h"
#include "api/names.h"
#include "api/resources.h"
#include "api/work.h"

namespace controllers {
namespace {

std::string NameFor(const kube::Gvk& gvk, const kube::ObjectKey& key) {
  return api::WorkName(gvk.kind, key.name, key.ns);
}

std::string IndexValue(absl::string_view execution_namespace, const kube::Gvk& gvk,
                       const kube::ObjectKey& key) {
  return absl::StrCat(execution_namespace, "/", gvk.ApiVersion(), "/", gvk.kind, "/",
                      key.ToString());
}

}  // namespace

std::vector<std::string> ObjectIndexValues(const kube::Object& work) {
  std::vector<std::string> values;
  for (const json::Value& raw : api::WorkView(work).Manifests()) {
    const kube::Object manifest(raw);
    const kube::Gvk gvk = manifest.gvk();
    const kube::ObjectKey key = manifest.key();
    if (work.name() != NameFor(gvk, key)) values.push_back(IndexValue(work.ns(), gvk, key));
  }
  return values;
}

kube::ObjectPtr WorkOfObject(kube::ClusterClient& control_plane, const kube::Request& object) {
  const std::string ns = api::ExecutionNamespace(object.cluster);
  const kube::ObjectPtr named =
      control_plane.Find(api::Works(), {ns, NameFor(object.gvk, object.key)});
  const kube::Object wanted = kube::Object::Make(object.gvk, object.key);
  const bool has_it = named != nullptr && api::WorkView(*named).IndexOf(wanted).has_value();
  if (has_it && !named->IsDeleting()) return named;
  kube::ObjectPtr other;
  for (const kube::ObjectPtr& work : control_plane.ByIndex(
           api::Works(), kWorksByObject, IndexValue(ns, object.gvk, object.key))) {
    if (work->IsDeleting()) continue;
    if (!api::WorkView(*work).IsDispatchingSuspended()) return work;
    other = work;
  }
  return other != nullptr ? other : named;
}

}  // namespace controllers
