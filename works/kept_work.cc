#include "works/kept_work.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "api/binding_scope.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/resources.h"
#include "api/stand_in.h"
#include "api/work.h"

namespace works {
namespace {

template <class Scope>
bool HasManifestOf(const kube::Object& work, const api::BindingView& binding) {
  return Scope::BindingOf(work) == binding.object().key() &&
         api::WorkView(work).Manifests().size() == 1;
}

// A template that was deleted and made again has another uid, and its objects are other objects.
bool IsOfTemplate(const kube::Object& work, const api::BindingView& binding) {
  const kube::Object manifest(api::WorkView(work).Manifests()[0]);
  return manifest.Annotation(api::kTemplateUidAnnotation) == binding.Resource().uid;
}

absl::string_view CreationTime(const kube::Object& object) {
  return object.metadata()["creationTimestamp"].AsString();
}

}  // namespace

std::vector<std::string> StandsInFor(const kube::Object& work) {
  const std::pair<absl::string_view, absl::string_view> name_and_uid =
      absl::StrSplit(work.Annotation(api::kStandsInForAnnotation), absl::MaxSplits('/', 1));
  if (name_and_uid.first.empty()) return {};
  return {absl::StrCat(work.ns(), "/", name_and_uid.first)};
}

template <class Scope>
kube::ObjectPtr WorkToKeep(kube::ClusterClient& control_plane, const api::BindingView& binding,
                           const std::string& cluster) {
  const api::ObjectReference object = binding.Resource();
  const kube::ObjectKey key = {api::ExecutionNamespace(cluster),
                               api::WorkName(object.kind, object.name, object.ns)};
  const kube::ObjectPtr work = control_plane.Find(api::Works(), key);
  if (work != nullptr) {
    // A Work that is there decides, even when it is not kept.
    return !work->IsDeleting() && HasManifestOf<Scope>(*work, binding) ? work : nullptr;
  }
  kube::ObjectPtr latest;
  for (kube::ObjectPtr& stand_in :
       control_plane.ByIndex(api::Works(), kStandInIndex, key.ToString())) {
    if (!HasManifestOf<Scope>(*stand_in, binding) || !IsOfTemplate(*stand_in, binding)) continue;
    // The times are texts of one length.
    if (latest == nullptr || CreationTime(*latest) < CreationTime(*stand_in)) {
      latest = std::move(stand_in);
    }
  }
  return latest;
}

template kube::ObjectPtr WorkToKeep<api::scope::Namespaced>(kube::ClusterClient&,
                                                            const api::BindingView&,
                                                            const std::string&);
template kube::ObjectPtr WorkToKeep<api::scope::Cluster>(kube::ClusterClient&,
                                                         const api::BindingView&,
                                                         const std::string&);

}  // namespace works
