#include "api/policy_scope.h"

#include "absl/strings/str_cat.h"

namespace api::policy_scope {

namespace {

bool PutLabel(kube::Object& object, absl::string_view key, absl::string_view value) {
  if (const json::Value* held = object.labels().Find(key)) {
    if (held->is_string() && held->AsString() == value) return false;
  }
  object.SetLabel(key, value);
  return true;
}

bool PutAnnotation(kube::Object& object, absl::string_view key, absl::string_view value) {
  if (const json::Value* held = object.annotations().Find(key)) {
    if (held->is_string() && held->AsString() == value) return false;
  }
  object.SetAnnotation(key, value);
  return true;
}

}  // namespace

kube::ObjectKey Namespaced::ClaimOn(const kube::Object& object) {
  const absl::string_view ns = object.Annotation(kPropagationPolicyNamespaceAnnotation);
  const absl::string_view name = object.Annotation(kPropagationPolicyNameAnnotation);
  if (ns.empty() || name.empty() || object.Label(kIdLabel).empty()) return {};
  return {std::string(ns), std::string(name)};
}

bool Namespaced::Claim(const kube::Object& policy, kube::Object& object) {
  bool changed = PutLabel(object, kIdLabel, policy.Label(kIdLabel));
  changed |= PutAnnotation(object, kPropagationPolicyNamespaceAnnotation, policy.ns());
  changed |= PutAnnotation(object, kPropagationPolicyNameAnnotation, policy.name());
  return changed;
}

bool Namespaced::Unclaim(kube::Object& object) {
  bool changed = object.EraseLabel(kIdLabel);
  changed |= object.EraseAnnotation(kPropagationPolicyNamespaceAnnotation);
  changed |= object.EraseAnnotation(kPropagationPolicyNameAnnotation);
  return changed;
}

std::string Namespaced::Describe(const kube::ObjectKey& policy) {
  return absl::StrCat("policy(", policy.ns, "/", policy.name, ")");
}

kube::ObjectKey Cluster::ClaimOn(const kube::Object& object) {
  const absl::string_view name = object.Annotation(kClusterPropagationPolicyNameAnnotation);
  if (name.empty() || object.Label(kIdLabel).empty()) return {};
  return {"", std::string(name)};
}

bool Cluster::Claim(const kube::Object& policy, kube::Object& object) {
  const bool labelled = PutLabel(object, kIdLabel, policy.Label(kIdLabel));
  return PutAnnotation(object, kClusterPropagationPolicyNameAnnotation, policy.name()) || labelled;
}

bool Cluster::Unclaim(kube::Object& object) {
  const bool unlabelled = object.EraseLabel(kIdLabel);
  return object.EraseAnnotation(kClusterPropagationPolicyNameAnnotation) || unlabelled;
}

std::string Cluster::Describe(const kube::ObjectKey& policy) {
  return absl::StrCat("cluster policy(", policy.name, ")");
}

}  // namespace api::policy_scope
