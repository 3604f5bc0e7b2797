// What karmada-webhook does with policies, in its order: defaults, then the permanent id and the
// finalizer (of a new policy), then validation, whose mistakes are collected and returned as one
// refusal. Names and texts are those of upstream's pkg/webhook/propagationpolicy,
// .../clusterpropagationpolicy and pkg/util/validation. It runs for each write of a policy and
// keeps no state; an id that a client sends with a new policy is replaced, since upstream makes its
// own, too.

#include <set>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "api/keys.h"
#include "base/random.h"
#include "sandbox/sim/karmada_admission.h"

namespace sandbox {
namespace {

constexpr int kDefaultGraceSeconds = 600;

using Messages = std::vector<std::string>;

void DefaultSelectors(kube::Object& policy, bool namespaced) {
  json::Value& spec = policy.mutable_root().Mutable("spec");
  for (size_t i = 0; i < spec["resourceSelectors"].size(); ++i) {
    json::Value& selector = spec.Mutable("resourceSelectors").MutableAt(i);
    if (namespaced && selector["namespace"].AsString().empty()) {
      selector.Set("namespace", policy.ns());
    }
    if (selector["apiVersion"].AsString() == "multicluster.x-k8s.io/v1alpha1" &&
        selector["kind"].AsString() == "ServiceImport") {
      // The EndpointSlices of a ServiceImport are its dependencies.
      spec.Set("propagateDeps", true);
    }
  }
}

void DefaultPlacement(json::Value& spec) {
  if (!spec["placement"].is_object()) return;
  json::Value& placement = spec.Mutable("placement");
  for (size_t i = 0; i < placement["spreadConstraints"].size(); ++i) {
    json::Value& constraint = placement.Mutable("spreadConstraints").MutableAt(i);
    if (constraint["spreadByField"].AsString().empty() &&
        constraint["spreadByLabel"].AsString().empty()) {
      constraint.Set("spreadByField", "cluster");
    }
    if (constraint["minGroups"].AsInt() == 0) constraint.Set("minGroups", 1);
  }
  const json::Value& scheduling = placement["replicaScheduling"];
  if (scheduling["replicaSchedulingType"].AsString() == "Divided" &&
      scheduling["replicaDivisionPreference"].AsString().empty()) {
    placement.Set({"replicaScheduling", "replicaDivisionPreference"}, "Weighted");
  }
}

// Returns whether the purge mode of `application` has a grace period. v1.19 has dropped the old
// word for it.
bool IsGraceful(const json::Value& application, config::Release release) {
  const absl::string_view mode = application["purgeMode"].AsString();
  return mode == "Gracefully" || (mode == "Graciously" && release < config::Release::kV1_19);
}

void DefaultFailover(config::Release release, json::Value& spec) {
  const json::Value& application = spec["failover"]["application"];
  if (!IsGraceful(application, release)) return;
  if (!application["gracePeriodSeconds"].is_null()) return;
  spec.Set({"failover", "application", "gracePeriodSeconds"}, kDefaultGraceSeconds);
}

void CheckSelectors(const kube::Object& policy, bool namespaced, Messages& out) {
  const json::Value& spec = policy.spec();
  const bool preempts = spec["preemption"].AsString() == "Always";
  const auto selectors = spec["resourceSelectors"].items();
  for (size_t i = 0; i < selectors.size(); ++i) {
    const std::string path = absl::StrCat("spec.resourceSelectors[", i, "]");
    const json::Value& ns = selectors[i]["namespace"];
    if (namespaced && ns.AsString() != policy.ns()) {
      out.push_back(absl::StrCat(path, ".namespace: Invalid value: ", json::Write(ns),
                                 ": the namespace of resourceSelector should be the same with the "
                                 "namespace of PropagationPolicy(",
                                 policy.ns(), ")"));
    }
    if (preempts && selectors[i]["name"].AsString().empty()) {
      out.push_back(absl::StrCat(path,
                                 ".name: Invalid value: \"\": name cannot be empty if "
                                 "preemption is Always, the empty name may cause unexpected "
                                 "resources preemption"));
    }
  }
}

void CheckFieldSelector(const json::Value& affinity, const std::string& path, Messages& out) {
  const auto expressions = affinity["fieldSelector"]["matchExpressions"].items();
  for (size_t i = 0; i < expressions.size(); ++i) {
    const std::string at = absl::StrCat(path, ".fieldSelector.matchExpressions[", i, "]");
    const absl::string_view key = expressions[i]["key"].AsString();
    const absl::string_view op = expressions[i]["operator"].AsString();
    if (key != "provider" && key != "region" && key != "zone") {
      out.push_back(absl::StrCat(at, ".key: Unsupported value: \"", key,
                                 "\": supported values: \"provider\", \"region\", \"zone\""));
    }
    if (op != "In" && op != "NotIn") {
      out.push_back(absl::StrCat(at, ".operator: Unsupported value: \"", op,
                                 "\": supported values: \"In\", \"NotIn\""));
    }
  }
}

void CheckAffinities(const json::Value& placement, Messages& out) {
  const json::Value& affinities = placement["clusterAffinities"];
  if (!placement["clusterAffinity"].is_null() && !affinities.is_null()) {
    out.push_back(
        "spec.placement: Invalid value: clusterAffinities cannot co-exist with "
        "clusterAffinity");
  }
  CheckFieldSelector(placement["clusterAffinity"], "spec.placement.clusterAffinity", out);
  std::set<std::string> names;
  for (size_t i = 0; i < affinities.size(); ++i) {
    const std::string path = absl::StrCat("spec.placement.clusterAffinities[", i, "]");
    const std::string name = affinities.At(i)["affinityName"].ToString();
    if (!names.insert(name).second) {
      out.push_back(absl::StrCat(path, ".affinityName: Invalid value: \"", name,
                                 "\": each affinity term in a policy must have a unique name"));
    }
    CheckFieldSelector(affinities.At(i), path, out);
  }
}

void CheckSpread(const json::Value& placement, Messages& out) {
  std::set<std::string> fields;
  const auto constraints = placement["spreadConstraints"].items();
  for (size_t i = 0; i < constraints.size(); ++i) {
    const std::string path = absl::StrCat("spec.placement.spreadConstraints[", i, "]");
    const std::string field = constraints[i]["spreadByField"].ToString();
    const int64_t least = constraints[i]["minGroups"].AsInt();
    const json::Value& most = constraints[i]["maxGroups"];
    if (!field.empty() && !constraints[i]["spreadByLabel"].AsString().empty()) {
      out.push_back(path + ": Invalid value: spreadByLabel should not co-exist with spreadByField");
    }
    if (!most.is_null() && most.AsInt() < 0) {
      out.push_back(absl::StrCat(path, ".maxGroups: Invalid value: ", most.AsInt(),
                                 ": must be greater than or equal to 0"));
    }
    if (least < 0) {
      out.push_back(absl::StrCat(path, ".minGroups: Invalid value: ", least,
                                 ": must be greater than or equal to 0"));
    }
    if (most.AsInt() > 0 && most.AsInt() < least) {
      out.push_back(absl::StrCat(path, ".maxGroups: Invalid value: ", most.AsInt(),
                                 ": maxGroups lower than minGroups is not allowed"));
    }
    if (!field.empty() && !fields.insert(field).second) {
      out.push_back(absl::StrCat(path, ".spreadByField: Invalid value: \"", field, "\": multiple ",
                                 field, " spread constraints are not allowed"));
    }
  }
  if (!fields.empty() && fields.count("cluster") == 0) {
    out.push_back(
        "spec.placement.spreadConstraints: Invalid value: the cluster spread constraint "
        "must be enabled in one of the constraints in case of SpreadByField is enabled");
  }
}

void CheckFailover(const json::Value& application, config::Release release, Messages& out) {
  const json::Value& grace = application["gracePeriodSeconds"];
  if (grace.is_null()) return;
  const std::string wrong =
      absl::StrCat("spec.failover.application.gracePeriodSeconds: Invalid value: ", grace.AsInt());
  if (!IsGraceful(application, release)) {
    out.push_back(wrong + ": only takes effect when purgeMode is gracefully");
  }
  if (grace.AsInt() <= 0) out.push_back(wrong + ": must be greater than 0");
}

void CheckModes(const json::Value& spec, Messages& out) {
  if (!spec["failover"]["application"].is_null() && !spec["propagateDeps"].AsBool()) {
    out.push_back(
        "spec.propagateDeps: Invalid value: false: application failover is set, "
        "propagateDeps must be true");
  }
  const json::Value& suspension = spec["suspension"];
  if (suspension["dispatching"].AsBool() && !suspension["dispatchingOnClusters"].is_null()) {
    out.push_back(
        "spec.suspension: Invalid value: suspension dispatching cannot co-exist with "
        "dispatchingOnClusters.clusterNames");
  }
}

void CheckImmutable(const kube::Object& before, const kube::Object& policy,
                    absl::string_view id_label, Messages& out) {
  if (before.spec()["schedulerName"] != policy.spec()["schedulerName"]) {
    out.push_back(absl::StrCat(
        "spec.schedulerName: Invalid value: ", json::Write(policy.spec()["schedulerName"]),
        ": the schedulerName should not be updated"));
  }
  if (!before.Label(id_label).empty() && before.Label(id_label) != policy.Label(id_label)) {
    out.push_back(absl::StrCat("metadata.labels: Invalid value: \"", policy.Label(id_label),
                               "\": label ", id_label, " is immutable"));
  }
}

}  // namespace

absl::Status AdmitPolicy(const AdmissionRequest& request, config::Release release,
                         kube::Object& policy) {
  const bool namespaced = request.resource.gvk.kind == "PropagationPolicy";
  const absl::string_view id_label =
      namespaced ? api::kPropagationPolicyIdLabel : api::kClusterPropagationPolicyIdLabel;
  // Defaults before checks, as with mutating and validating webhooks: the checks see what is
  // stored.
  DefaultSelectors(policy, namespaced);
  json::Value& spec = policy.mutable_root().Mutable("spec");
  DefaultPlacement(spec);
  DefaultFailover(release, spec);
  if (request.verb == Verbs::kCreate) {
    // Also over a label that the client has set: it may have been copied from another policy.
    policy.SetLabel(id_label, base::NewUuid());
    policy.AddFinalizer(namespaced ? api::kPropagationPolicyFinalizer
                                   : api::kClusterPropagationPolicyFinalizer);
  }
  Messages wrong;
  if (request.verb == Verbs::kUpdate) CheckImmutable(request.old_object, policy, id_label, wrong);
  if (policy.Label(id_label).empty()) {
    wrong.push_back(
        absl::StrCat("metadata.labels: Required value: label ", id_label, " must be there"));
  }
  CheckSelectors(policy, namespaced, wrong);
  CheckAffinities(policy.spec()["placement"], wrong);
  CheckSpread(policy.spec()["placement"], wrong);
  CheckFailover(policy.spec()["failover"]["application"], release, wrong);
  CheckModes(policy.spec(), wrong);
  return Denied(absl::StrCat(absl::AsciiStrToLower(request.resource.gvk.kind), api::kGroupSuffix),
                wrong);
}

}  // namespace sandbox
