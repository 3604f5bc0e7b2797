#include "detector/template_filter.h"

#include "absl/strings/match.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/resources.h"
#include "base/status.h"
#include "kube/meta/specification.h"

namespace detector {
namespace {

void EraseOwnKeys(json::Value& object, absl::string_view map) {
  std::vector<std::string> own;
  for (const json::Member& m : object.Get({"metadata", map}).members()) {
    if (absl::StrContains(m.name(), api::kGroupSuffix) &&
        m.name() != api::kSkipAutoPropagationLabel) {
      own.emplace_back(m.name());
    }
  }
  for (const std::string& key : own) object.Erase({"metadata", map, key});
  if (object.Get({"metadata", map}).empty()) object.Erase({"metadata", map});
}

json::Value UserSpecification(const kube::Object& o) {
  json::Value v = kube::SpecificationOf(o);
  v.Erase({"metadata", "generation"});
  EraseOwnKeys(v, "labels");
  EraseOwnKeys(v, "annotations");
  return v;
}

}  // namespace

absl::StatusOr<TemplateFilter> TemplateFilter::Create(
    absl::string_view skipped_apis, const std::vector<std::string>& skipped_namespaces) {
  TemplateFilter filter;
  ASSIGN_OR_RETURN(filter.skipped_apis_, config::SkippedApis::Parse(skipped_apis));
  ASSIGN_OR_RETURN(filter.skipped_namespaces_,
                   config::SkippedNamespaces::Create(skipped_namespaces));
  return filter;
}

bool IsNeverPropagated(const kube::Gvk& gvk) {
  return api::IsKarmadaGroup(gvk.group) || gvk.group == "events.k8s.io" ||
         gvk.ApiVersion() == "coordination.k8s.io/v1" || gvk == kube::Gvk{"", "v1", "Event"};
}

bool TemplateFilter::AllowsResource(const kube::Gvk& gvk) const {
  return !IsNeverPropagated(gvk) && !skipped_apis_.Contains(gvk.group, gvk.version, gvk.kind);
}

bool TemplateFilter::AllowsNamespace(absl::string_view ns) const {
  return !api::IsReservedNamespace(ns) && !skipped_namespaces_.Contains(ns);
}

bool TemplateFilter::AllowsObject(const kube::Object& object) const {
  const absl::string_view ns = object.ns();
  if (ns.empty()) return true;
  if (!AllowsNamespace(ns)) return false;
  return !(ns == "kube-system" && object.kind() == "ConfigMap" &&
           object.name() == "extension-apiserver-authentication");
}

bool ChangedByKarmada(const kube::Object& before, const kube::Object& after) {
  return UserSpecification(before) == UserSpecification(after);
}

}  // namespace detector
