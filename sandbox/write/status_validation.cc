// The rules of Kubernetes' pkg/apis/*/validation for the status of workloads, budgets, autoscalers,
// load balancers and claims; Jobs and Pods have files of their own. A write of a status passes
// through CompleteBuiltinStatus, as defaulting and PrepareForUpdate of the kind's strategy change
// it, and then through ValidateBuiltinStatus, which adds all mistakes to the errors of the write.
// Both look a kind up in a table; a kind that is not there keeps whatever was sent. CronJobs have
// no rules in Kubernetes either.

#include "sandbox/write/status_validation.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/regex.h"
#include "kube/meta/quantity.h"
#include "kube/meta/selector.h"
#include "sandbox/kinds/schema.h"
#include "sandbox/write/status_rules.h"

namespace sandbox {
namespace {

constexpr size_t kMaxReason = 1024;
constexpr size_t kMaxMessage = 32 * 1024;

constexpr absl::string_view kDeploymentCounters[] = {"observedGeneration",  "replicas",
                                                     "updatedReplicas",     "readyReplicas",
                                                     "availableReplicas",   "unavailableReplicas",
                                                     "terminatingReplicas", "collisionCount"};
constexpr absl::string_view kReplicaSetCounters[] = {"replicas",           "fullyLabeledReplicas",
                                                     "readyReplicas",      "availableReplicas",
                                                     "observedGeneration", "terminatingReplicas"};
constexpr absl::string_view kStatefulSetCounters[] = {
    "replicas",          "readyReplicas",      "currentReplicas", "updatedReplicas",
    "availableReplicas", "observedGeneration", "collisionCount"};
constexpr absl::string_view kDaemonSetCounters[] = {
    "currentNumberScheduled", "numberMisscheduled",
    "desiredNumberScheduled", "numberReady",
    "observedGeneration",     "updatedNumberScheduled",
    "numberAvailable",        "numberUnavailable",
    "collisionCount"};
constexpr absl::string_view kBudgetCounters[] = {"disruptionsAllowed", "currentHealthy",
                                                 "desiredHealthy", "expectedPods"};
constexpr absl::string_view kAutoscalerCounters[] = {"currentReplicas", "desiredReplicas"};

// Refuses counters above the number of replicas, and more available replicas than ready ones;
// `ready` is how the kind's message names these.
void RequireWithinReplicas(const json::Value& status, absl::Span<const absl::string_view> parts,
                           absl::string_view ready, FieldErrors& errors) {
  for (const absl::string_view part : parts) {
    if (status[part].AsInt() <= status["replicas"].AsInt()) continue;
    errors.Invalid(FieldPath("status", part), status[part].AsInt(),
                   "cannot be greater than status.replicas");
  }
  if (status["availableReplicas"].AsInt() <= status["readyReplicas"].AsInt()) return;
  errors.Invalid("status.availableReplicas", status["availableReplicas"],
                 absl::StrCat("cannot be greater than ", ready));
}

void RequireNotDecremented(const kube::Object& old_object, const kube::Object& object,
                           FieldErrors& errors) {
  const json::Value& before = old_object.status()["collisionCount"];
  const json::Value& now = object.status()["collisionCount"];
  if (before.is_null() || (!now.is_null() && now.AsInt() >= before.AsInt())) return;
  errors.Invalid("status.collisionCount", now.AsInt(), "cannot be decremented");
}

void ValidateDeploymentStatus(const kube::Object& old_object, const kube::Object& object,
                              FieldErrors& errors) {
  RequireNonNegative(object.status(), kDeploymentCounters, errors);
  RequireWithinReplicas(object.status(), {"updatedReplicas", "readyReplicas", "availableReplicas"},
                        "readyReplicas", errors);
  RequireNotDecremented(old_object, object, errors);
}

void ValidateReplicaSetStatus(const kube::Object&, const kube::Object& object,
                              FieldErrors& errors) {
  RequireNonNegative(object.status(), kReplicaSetCounters, errors);
  RequireWithinReplicas(object.status(),
                        {"fullyLabeledReplicas", "readyReplicas", "availableReplicas"},
                        "readyReplicas", errors);
}

void ValidateStatefulSetStatus(const kube::Object& old_object, const kube::Object& object,
                               FieldErrors& errors) {
  RequireNonNegative(object.status(), kStatefulSetCounters, errors);
  RequireWithinReplicas(
      object.status(), {"readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"},
      "status.readyReplicas", errors);
  RequireNotDecremented(old_object, object, errors);
}

void ValidateDaemonSetStatus(const kube::Object& old_object, const kube::Object& object,
                             FieldErrors& errors) {
  RequireNonNegative(object.status(), kDaemonSetCounters, errors);
  RequireNotDecremented(old_object, object, errors);
}

void ValidateReason(const std::string& path, const std::string& reason, FieldErrors& errors) {
  static const base::Regex& form =
      *new base::Regex(base::Regex::Compile("^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$").value());
  if (reason.empty()) {
    errors.Required(path);
  } else if (!form.Finds(reason)) {
    errors.Invalid(path, reason,
                   "a condition reason must start with alphabetic character, optionally followed "
                   "by a string of alphanumeric characters or '_,:', and must end with an "
                   "alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  "
                   "or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is "
                   "'[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')");
  }
  if (reason.size() > kMaxReason) errors.TooLong(path, kMaxReason);
}

// Checks a metav1.Condition.
void ValidateCondition(const std::string& path, const json::Value& condition, FieldErrors& errors) {
  const json::Value& status = condition["status"];
  if (const auto s = kube::ValidateQualifiedName(condition["type"].AsString()); !s.ok()) {
    errors.Invalid(FieldPath(path, "type"), condition["type"], s.message());
  }
  if (status != "True" && status != "False" && status != "Unknown") {
    errors.NotSupported(FieldPath(path, "status"), status, {"False", "True", "Unknown"});
  }
  if (condition["observedGeneration"].AsInt() < 0) {
    errors.Invalid(FieldPath(path, "observedGeneration"), condition["observedGeneration"],
                   "must be greater than or equal to zero");
  }
  if (condition["lastTransitionTime"].AsString().empty()) {
    errors.Required(FieldPath(path, "lastTransitionTime"));
  }
  ValidateReason(FieldPath(path, "reason"), condition["reason"].ToString(), errors);
  if (condition["message"].AsString().size() > kMaxMessage) {
    errors.TooLong(FieldPath(path, "message"), kMaxMessage);
  }
}

void ValidateBudgetStatus(const kube::Object&, const kube::Object& object, FieldErrors& errors) {
  const json::Value& conditions = object.status()["conditions"];
  std::set<std::string> types;
  for (size_t i = 0; i < conditions.size(); ++i) {
    const std::string path = FieldPath("status.conditions", i);
    const json::Value& type = conditions.At(i)["type"];
    if (!types.insert(type.ToString()).second) errors.Duplicate(FieldPath(path, "type"), type);
    ValidateCondition(path, conditions.At(i), errors);
  }
  RequireNonNegative(object.status(), kBudgetCounters, errors);
}

void ValidateAutoscalerStatus(const kube::Object&, const kube::Object& object,
                              FieldErrors& errors) {
  RequireNonNegative(object.status(), kAutoscalerCounters, errors);
}

const json::Value& Addresses(const kube::Object& object) {
  return object.status()["loadBalancer"]["ingress"];
}

std::vector<std::string> IpsOf(const json::Value& addresses) {
  std::vector<std::string> ips;
  for (const json::Value& address : addresses.items()) ips.push_back(address["ip"].ToString());
  return ips;
}

void ValidateIpMode(const std::string& path, const json::Value& address, FieldErrors& errors) {
  const json::Value& mode = address["ipMode"];
  const bool has_ip = !address["ip"].AsString().empty();
  if (mode.is_null()) {
    if (has_ip) errors.Required(path, "must be specified when `ip` is set");
  } else if (!has_ip) {
    errors.Forbidden(path, "may not be specified when `ip` is not set");
  } else if (mode != "VIP" && mode != "Proxy") {
    errors.NotSupported(path, mode, {"Proxy", "VIP"});
  }
}

void ValidateAddresses(const kube::Object& old_object, const kube::Object& object, bool has_mode,
                       FieldErrors& errors) {
  const std::vector<std::string> before = IpsOf(Addresses(old_object));
  for (size_t i = 0; i < Addresses(object).size(); ++i) {
    const std::string path = FieldPath("status.loadBalancer.ingress", i);
    const json::Value& address = Addresses(object).At(i);
    if (!address["ip"].AsString().empty()) {
      RequireIpAddress(FieldPath(path, "ip"), address["ip"], before, errors);
    }
    if (has_mode) ValidateIpMode(FieldPath(path, "ipMode"), address, errors);
    if (!address["hostname"].AsString().empty()) {
      RequireHostname(FieldPath(path, "hostname"), address["hostname"], errors);
    }
  }
}

void ValidateIngressStatus(const kube::Object& old_object, const kube::Object& object,
                           FieldErrors& errors) {
  ValidateAddresses(old_object, object, /*has_mode=*/false, errors);
}

void ValidateServiceStatus(const kube::Object& old_object, const kube::Object& object,
                           FieldErrors& errors) {
  if (object.spec()["type"] != "LoadBalancer" && !Addresses(object).empty()) {
    errors.Forbidden("status.loadBalancer.ingress",
                     "may only be used when `spec.type` is 'LoadBalancer'");
    return;
  }
  ValidateAddresses(old_object, object, /*has_mode=*/true, errors);
}

// Returns whether the claim's status may name the resource; if not, adds the mistake.
bool IsClaimResource(const std::string& path, absl::string_view name, FieldErrors& errors) {
  if (const auto s = kube::ValidateQualifiedName(name); !s.ok()) {
    errors.Invalid(path, name, s.message());
    return false;
  }
  const bool native = !absl::StrContains(name, "/") || absl::StrContains(name, "kubernetes.io/");
  if (native && name != "storage") {
    errors.NotSupported(path, name, {"storage"});
    return false;
  }
  return true;
}

void RequirePositiveQuantity(const std::string& path, const json::Value& amount,
                             FieldErrors& errors) {
  const auto quantity = kube::Quantity::Parse(amount.AsString());
  if (!quantity.ok() || quantity->Value() >= 0) return;
  errors.Invalid(path, quantity->Value(), "must be a valid resource quantity");
}

void ValidateClaimStatus(const kube::Object&, const kube::Object& object, FieldErrors& errors) {
  const std::vector<std::string> known = {"ControllerResizeInProgress",
                                          "ControllerResizeInfeasible", "NodeResizeInProgress",
                                          "NodeResizeInfeasible", "NodeResizePending"};
  const json::Value& status = object.status();
  for (const json::Member& entry : status["capacity"].members()) {
    RequirePositiveQuantity(absl::StrCat("status.capacity[", entry.name(), "]"), entry.value,
                            errors);
  }
  const std::string resizes = "status.allocatedResourceStatuses";
  for (const json::Member& entry : status["allocatedResourceStatuses"].members()) {
    IsClaimResource(resizes, entry.name(), errors);
    if (std::find(known.begin(), known.end(), entry.value.AsString()) != known.end()) continue;
    // The message names the resource where one expects its state, as Kubernetes' does.
    errors.NotSupported(resizes, entry.name(), known);
  }
  for (const json::Member& entry : status["allocatedResources"].members()) {
    const std::string path = "status.allocatedResources";
    if (!IsClaimResource(path, entry.name(), errors)) continue;
    RequirePositiveQuantity(absl::StrCat(path, "[", entry.name(), "]"), entry.value, errors);
  }
}

// Sets the mode in which older clients' addresses work, as SetDefaults_Service does.
void DefaultIpModes(const kube::Object&, kube::Object& object) {
  if (object.spec()["type"] != "LoadBalancer") return;
  for (size_t i = 0; i < Addresses(object).size(); ++i) {
    const json::Value& address = Addresses(object).At(i);
    if (address["ip"].AsString().empty() || !address["ipMode"].is_null()) continue;
    object.mutable_root()
        .Mutable(json::Path({"status", "loadBalancer", "ingress"}))
        .MutableAt(i)
        .Set("ipMode", "VIP");
  }
}

struct StatusRules {
  absl::string_view group;
  absl::string_view kind;
  void (*validate)(const kube::Object& old_object, const kube::Object& object, FieldErrors& errors);
  void (*complete)(const kube::Object& old_object, kube::Object& object) = nullptr;
};

constexpr StatusRules kStatusRules[] = {
    {"apps", "Deployment", ValidateDeploymentStatus},
    {"apps", "ReplicaSet", ValidateReplicaSetStatus},
    {"apps", "StatefulSet", ValidateStatefulSetStatus},
    {"apps", "DaemonSet", ValidateDaemonSetStatus},
    {"batch", "Job", ValidateJobStatus},
    {"", "Pod", ValidatePodStatus, KeepPodStatus},
    {"", "Service", ValidateServiceStatus, DefaultIpModes},
    {"", "PersistentVolumeClaim", ValidateClaimStatus},
    {"networking.k8s.io", "Ingress", ValidateIngressStatus},
    {"policy", "PodDisruptionBudget", ValidateBudgetStatus},
    {"autoscaling", "HorizontalPodAutoscaler", ValidateAutoscalerStatus},
};

const StatusRules* RulesOf(const ResourceInfo& info) {
  for (const StatusRules& rules : kStatusRules) {
    if (rules.group == info.resource.gvk.group && rules.kind == info.resource.gvk.kind) {
      return &rules;
    }
  }
  return nullptr;
}

}  // namespace

void CompleteBuiltinStatus(const ResourceInfo& info, const kube::Object& old_object,
                           kube::Object& object) {
  const StatusRules* rules = RulesOf(info);
  if (rules != nullptr && rules->complete != nullptr) rules->complete(old_object, object);
}

void ValidateBuiltinStatus(const ResourceInfo& info, const kube::Object& old_object,
                           const kube::Object& object, FieldErrors& errors) {
  if (const StatusRules* rules = RulesOf(info)) rules->validate(old_object, object, errors);
}

}  // namespace sandbox
