#include "controllers/dependencies/dependency_objects.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kube/client/errors.h"
#include "kube/meta/names.h"
#include "kube/meta/selector.h"

namespace controllers {
namespace {

absl::Status Bad(const api::DependentReference& reference, absl::string_view why) {
  return base::Terminal(absl::InvalidArgumentError(absl::StrCat(
      "the dependency on ", reference.api_version, " ", reference.Describe(), " ", why)));
}

absl::Status CheckNamespace(const api::DependentReference& reference, const kube::Resource& kind) {
  if (kind.namespaced != reference.ns.empty()) return absl::OkStatus();
  return Bad(reference,
             kind.namespaced ? "has no namespace" : "has a namespace, but its kind has none");
}

}  // namespace

absl::Status CheckReference(kube::ClusterClient& client, const api::DependentReference& reference,
                            const base::StopToken& stop) {
  const auto bad = [&](absl::string_view why) { return Bad(reference, why); };
  if (reference.gvk().kind.empty()) return bad("has no valid apiVersion and kind");
  if (reference.name.empty() && reference.label_selector.is_null()) {
    return bad("has neither a name nor a labelSelector");
  }
  if (reference.name.empty()) {
    const absl::Status selector = kube::LabelSelector::FromJson(reference.label_selector).status();
    if (!selector.ok()) return bad(absl::StrCat("has a bad labelSelector: ", selector.message()));
  }
  const absl::StatusOr<kube::Resource> kind = client.mapper().ForKind(reference.gvk(), stop);
  // A kind that is not known yet may be served later, so this is not the template's error.
  return kind.ok() ? CheckNamespace(reference, *kind) : absl::OkStatus();
}

absl::Status CheckFollows(const api::DependentReference& reference, absl::string_view ns) {
  if (reference.ns == ns) return absl::OkStatus();
  return Bad(reference,
             absl::StrCat(reference.ns.empty() ? "has no namespace, but the template has one ("
                                               : "is in another namespace than the template (",
                          ns, "): such dependencies do not follow"));
}

absl::StatusOr<std::vector<kube::ObjectPtr>> ObjectsOf(kube::ClusterClient& client,
                                                       const api::DependentReference& reference,
                                                       const base::StopToken& stop) {
  std::vector<kube::ObjectPtr> objects;
  ASSIGN_OR_RETURN(const kube::Resource kind, client.mapper().ForKind(reference.gvk(), stop));
  RETURN_IF_ERROR(CheckNamespace(reference, kind));
  if (reference.name.empty()) {
    objects = client.List(kind, reference.ns);
    std::erase_if(objects, [&](const auto& object) { return !reference.Matches(*object); });
    return objects;
  }
  const absl::StatusOr<kube::ObjectPtr> object =
      client.Get(kind, {reference.ns, reference.name}, stop);
  if (object.ok()) objects.push_back(*object);
  RETURN_IF_ERROR(kube::IgnoreGone(object.status()));
  return objects;
}

}  // namespace controllers
