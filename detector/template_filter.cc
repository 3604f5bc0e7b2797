#include "detector/template_filter.h"

#include "api/names.h"
#include "api/passed_template.h"
#include "api/resources.h"
#include "base/status.h"

namespace detector {

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
  return api::UserSpecification(before) == api::UserSpecification(after);
}

}  // namespace detector
