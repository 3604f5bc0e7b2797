#include "interpreter/native/replicas.h"

#include <utility>

#include "base/status.h"
#include "interpreter/native/resource_totals.h"
#include "interpreter/native/typed_fields.h"

namespace interpreter::native {

namespace {

// The pod's demands on nodes; null when it makes none. An empty but present nodeSelector counts.
json::Value NodeClaimOf(const json::Value& pod_spec) {
  const json::Value& selector = pod_spec["nodeSelector"];
  const json::Value& tolerations = pod_spec["tolerations"];
  const json::Value& affinity =
      pod_spec.Get({"affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"});
  if (selector.is_null() && affinity.is_null() && tolerations.empty()) return nullptr;
  json::Value claim = json::Value::Object();
  if (!selector.empty()) claim.Set("nodeSelector", selector);
  if (!tolerations.empty()) claim.Set("tolerations", tolerations);
  if (!affinity.is_null()) {
    json::Value hard = affinity;
    if (!hard.Has("nodeSelectorTerms")) hard.Set("nodeSelectorTerms", nullptr);
    claim.Set("hardNodeAffinity", std::move(hard));
  }
  return claim;
}

}  // namespace

absl::StatusOr<json::Value> RequirementsOf(const json::Value& pod_spec,
                                           const RequirementRules& rules) {
  json::Value claim = NodeClaimOf(pod_spec);
  ASSIGN_OR_RETURN(json::Value request, RequestOfPod(pod_spec));
  if (claim.is_null() && request.empty()) return json::Value();
  json::Value requirements = json::Value::Object();
  if (!claim.is_null()) requirements.Set("nodeClaim", std::move(claim));
  if (!request.empty()) requirements.Set("resourceRequest", std::move(request));
  if (rules.priority_class && !pod_spec["priorityClassName"].AsString().empty()) {
    requirements.Set("priorityClassName", pod_spec["priorityClassName"]);
  }
  return requirements;
}

absl::StatusOr<Replicas> WorkloadReplicas(const kube::Object& object,
                                          const RequirementRules& rules) {
  Fields spec(object.spec(), "spec");
  Replicas out;
  out.replicas = spec.Int("replicas");
  RETURN_IF_ERROR(spec.error());
  ASSIGN_OR_RETURN(out.requirements,
                   RequirementsOf(object.Get({"spec", "template", "spec"}), rules));
  return out;
}

absl::StatusOr<kube::Object> ReviseSpecField(const kube::Object& object, absl::string_view field,
                                             int64_t value) {
  ASSIGN_OR_RETURN(const std::optional<int64_t> held,
                   json::FindInt(object.root(), {"spec", field}));
  if (!held.has_value() || *held == value) return object;
  kube::Object revised = object;
  revised.Set({"spec", field}, value);
  return revised;
}

}  // namespace interpreter::native
