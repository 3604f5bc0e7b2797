// These are podMatchesScopeFunc and pvcMatchesScopeFunc of Kubernetes' quota evaluators.

#include "sandbox/sim/quota_scopes.h"

#include <algorithm>

#include "absl/strings/string_view.h"
#include "sandbox/sim/kinds.h"

namespace sandbox {
namespace {

bool IsTerminating(const kube::Object& pod) {
  const json::Value& deadline = pod.spec()["activeDeadlineSeconds"];
  return deadline.is_int() && deadline.AsInt() >= 0;
}

bool IsBestEffort(const kube::Object& pod) {
  return pod.status()["qosClass"].AsString() == "BestEffort";
}

bool IsOfOtherNamespaces(const json::Value& term) {
  return !term["namespaces"].empty() || !term["namespaceSelector"].is_null();
}

bool HasCrossNamespaceAffinity(const kube::Object& pod) {
  for (const char* kind : {"podAffinity", "podAntiAffinity"}) {
    const json::Value& affinity = pod.spec()["affinity"][kind];
    for (const json::Value& term :
         affinity["requiredDuringSchedulingIgnoredDuringExecution"].items()) {
      if (IsOfOtherNamespaces(term)) return true;
    }
    for (const json::Value& term :
         affinity["preferredDuringSchedulingIgnoredDuringExecution"].items()) {
      if (IsOfOtherNamespaces(term["podAffinityTerm"])) return true;
    }
  }
  return false;
}

// `value` is empty when the object has none.
bool Selects(const json::Value& requirement, absl::string_view value) {
  const absl::string_view op = requirement["operator"].AsString("Exists");
  if (op == "Exists") return !value.empty();
  if (op == "DoesNotExist") return value.empty();
  const auto values = requirement["values"].items();
  const bool is_one =
      !value.empty() && std::any_of(values.begin(), values.end(),
                                    [&](const json::Value& v) { return v.AsString() == value; });
  return op == "In" ? is_one : op == "NotIn" && !is_one;
}

bool PodIsIn(const json::Value& requirement, const kube::Object& pod) {
  const absl::string_view scope = requirement["scopeName"].AsString();
  if (scope == "Terminating") return IsTerminating(pod);
  if (scope == "NotTerminating") return !IsTerminating(pod);
  if (scope == "BestEffort") return IsBestEffort(pod);
  if (scope == "NotBestEffort") return !IsBestEffort(pod);
  if (scope == "CrossNamespacePodAffinity") return HasCrossNamespaceAffinity(pod);
  return scope == "PriorityClass" &&
         Selects(requirement, pod.spec()["priorityClassName"].AsString());
}

bool ClaimIsIn(const json::Value& requirement, const kube::Object& claim) {
  return requirement["scopeName"].AsString() == "VolumeAttributesClass" &&
         Selects(requirement, claim.spec()["volumeAttributesClassName"].AsString());
}

bool IsIn(const json::Value& requirement, const kube::Resource& resource,
          const kube::Object& object) {
  if (resource.gvk == kinds::Pods().gvk) return PodIsIn(requirement, object);
  const bool is_claim = resource.gvk.group.empty() && resource.plural == "persistentvolumeclaims";
  return is_claim && ClaimIsIn(requirement, object);
}

}  // namespace

bool IsInScopes(const kube::Object& quota, const kube::Resource& resource,
                const kube::Object& object) {
  for (const json::Value& scope : quota.spec()["scopes"].items()) {
    const json::Value requirement = json::Value::Object({{"scopeName", scope}});
    if (!IsIn(requirement, resource, object)) return false;
  }
  for (const json::Value& requirement : quota.spec()["scopeSelector"]["matchExpressions"].items()) {
    if (!IsIn(requirement, resource, object)) return false;
  }
  return true;
}

}  // namespace sandbox
