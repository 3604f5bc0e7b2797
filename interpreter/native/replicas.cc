#include "interpreter/native/replicas.h"

#include <utility>
#include <vector>

#include "base/status.h"
#include "interpreter/native/resource_totals.h"

namespace interpreter::native {

namespace {

// Names of the answer's members, made only once.
struct Names {
  const json::Value claim = "nodeClaim";
  const json::Value affinity = "hardNodeAffinity";
  const json::Value selector = "nodeSelector";
  const json::Value tolerations = "tolerations";
  const json::Value priority_class = "priorityClassName";
  const json::Value request = "resourceRequest";

  static const Names& Get() {
    static const Names& names = *new Names;
    return names;
  }
};

void CheckTolerations(Fields& pod_spec) {
  pod_spec.Each("tolerations", [](Fields& toleration) {
    for (const char* text : {"key", "operator", "value", "effect"}) toleration.String(text);
    toleration.Int64("tolerationSeconds");
  });
}

void CheckNodeSelector(Fields& selector) {
  selector.Each("nodeSelectorTerms", [](Fields& term) {
    for (const char* list : {"matchExpressions", "matchFields"}) {
      term.Each(list, [](Fields& requirement) {
        requirement.String("key");
        requirement.String("operator");
        requirement.StringList("values");
      });
    }
  });
}

// Returns the required node affinity; null when there is none.
json::Value HardAffinityOf(Fields& pod_spec) {
  Fields affinity = pod_spec.In("affinity");
  if (affinity.IsNull()) return nullptr;
  Fields node_affinity = affinity.In("nodeAffinity");
  Fields required = node_affinity.In("requiredDuringSchedulingIgnoredDuringExecution");
  if (required.IsNull()) return nullptr;
  CheckNodeSelector(required);
  json::Value hard = required.value();
  // Upstream's struct always writes the field, so that the bindings of both look alike.
  if (!hard.Has("nodeSelectorTerms")) hard.Set("nodeSelectorTerms", nullptr);
  return hard;
}

// Returns the pod's demands on nodes; null when it makes none. An empty but present nodeSelector
// counts as a demand.
json::Value NodeClaimOf(Fields& pod_spec) {
  const json::Value& selector = pod_spec.StringMap("nodeSelector");
  const json::Value& tolerations = pod_spec.value()["tolerations"];
  // Copied below as it stands, so its types are checked here.
  if (!tolerations.is_null()) CheckTolerations(pod_spec);
  json::Value affinity = HardAffinityOf(pod_spec);
  if (!selector.is_object() && affinity.is_null() && tolerations.empty()) return nullptr;
  const Names& names = Names::Get();
  std::vector<json::Member> claim;
  claim.reserve(3);
  if (!affinity.is_null()) claim.emplace_back(names.affinity, std::move(affinity));
  if (!selector.empty()) claim.emplace_back(names.selector, selector);
  if (!tolerations.empty()) claim.emplace_back(names.tolerations, tolerations);
  return json::Value::OfMembers(std::move(claim));
}

}  // namespace

json::Value RequirementsOf(Fields& pod_spec, const RequirementRules& rules) {
  json::Value claim = NodeClaimOf(pod_spec);
  json::Value request = RequestOfPod(pod_spec);
  if (claim.is_null() && request.empty()) return nullptr;
  const Names& names = Names::Get();
  std::vector<json::Member> requirements;
  requirements.reserve(3);
  if (!claim.is_null()) requirements.emplace_back(names.claim, std::move(claim));
  if (rules.priority_class && !pod_spec.String("priorityClassName").empty()) {
    requirements.emplace_back(names.priority_class, pod_spec.value()["priorityClassName"]);
  }
  if (!request.empty()) requirements.emplace_back(names.request, std::move(request));
  return json::Value::OfMembers(std::move(requirements));
}

absl::StatusOr<Replicas> WorkloadReplicas(const kube::Object& object,
                                          const RequirementRules& rules) {
  Fields spec(object.spec(), "spec");
  Fields pod_template = spec.In("template");
  Fields pod_spec = pod_template.In("spec");
  Replicas out;
  out.replicas = spec.Int("replicas");
  out.requirements = RequirementsOf(pod_spec, rules);
  RETURN_IF_ERROR(spec.error());
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
