#include "api/binding_scope.h"

#include "absl/strings/str_cat.h"

namespace api::scope {

Annotations Namespaced::NamingAnnotations(const kube::ObjectKey& binding) {
  return {{kResourceBindingNamespaceAnnotation, binding.ns},
          {kResourceBindingNameAnnotation, binding.name}};
}

kube::ObjectKey Namespaced::BindingOf(const kube::Object& work) {
  const absl::string_view ns = work.Annotation(kResourceBindingNamespaceAnnotation);
  const absl::string_view name = work.Annotation(kResourceBindingNameAnnotation);
  if (ns.empty() || name.empty()) return {};
  return {std::string(ns), std::string(name)};
}

std::string Namespaced::Describe(const kube::ObjectKey& binding) {
  return absl::StrCat(kKind, "(", binding.ns, "/", binding.name, ")");
}

Annotations Cluster::NamingAnnotations(const kube::ObjectKey& binding) {
  return {{kClusterResourceBindingNameAnnotation, binding.name}};
}

kube::ObjectKey Cluster::BindingOf(const kube::Object& work) {
  return {"", std::string(work.Annotation(kClusterResourceBindingNameAnnotation))};
}

std::string Cluster::Describe(const kube::ObjectKey& binding) {
  return absl::StrCat(kKind, "(", binding.name, ")");
}

}  // namespace api::scope
