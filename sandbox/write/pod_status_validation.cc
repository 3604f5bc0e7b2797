// The rules of Kubernetes' ValidatePodStatusUpdate (pkg/apis/core/validation), and what the
// strategy of pods keeps (PrepareForUpdate in pkg/registry/core/pod/strategy.go). Fields that an
// API server drops unless a feature is switched on have no rule here.

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kube/meta/selector.h"
#include "sandbox/kinds/schema.h"
#include "sandbox/write/status_rules.h"

namespace sandbox {
namespace {

constexpr char kNoReturn[] = "may not be transitioned to non-terminated state";

void ValidateConditions(const json::Value& conditions, FieldErrors& errors) {
  for (size_t i = 0; i < conditions.size(); ++i) {
    const std::string path = FieldPath("status.conditions", i);
    const json::Value& generation = conditions.At(i)["observedGeneration"];
    if (generation.AsInt() < 0) {
      errors.Invalid(FieldPath(path, "observedGeneration"), generation,
                     "must be a non-negative integer");
    }
    const json::Value& type = conditions.At(i)["type"];
    if (const auto s = kube::ValidateQualifiedName(type.AsString()); !s.ok()) {
      errors.Invalid(FieldPath(path, "Type"), type, s.message());
    }
  }
}

const json::Value* FindNamed(const json::Value& list, const json::Value& name) {
  for (const json::Value& entry : list.items()) {
    if (entry["name"] == name) return &entry;
  }
  return nullptr;
}

// Returns whether a rule of the container has it restarted after this exit.
bool RuleRestarts(const json::Value& container, int64_t exit_code) {
  for (const json::Value& rule : container["restartPolicyRules"].items()) {
    bool listed = false;
    for (const json::Value& code : rule["exitCodes"]["values"].items()) {
      listed |= code.AsInt() == exit_code;
    }
    if ((rule["exitCodes"]["operator"] == "In") != listed) continue;
    return rule["action"] == "Restart";
  }
  return false;
}

bool MayRestart(const json::Value& container, const json::Value& pod_policy, int64_t exit_code) {
  const json::Value& own = container["restartPolicy"];
  if (!own.is_null() && RuleRestarts(container, exit_code)) return true;
  const json::Value& policy = own.is_null() ? pod_policy : own;
  return policy == "OnFailure" ? exit_code != 0 : policy != "Never";
}

// Refuses that a terminated container runs again, unless the spec has a container of its name which
// may be restarted. `containers` is that list of the spec; containers that only debug never are.
void ValidateTransitions(const kube::Object& old_pod, const kube::Object& pod,
                         absl::string_view list, const json::Value& containers,
                         FieldErrors& errors) {
  const json::Value& before = old_pod.status()[list];
  for (size_t i = 0; i < before.size(); ++i) {
    const json::Value& terminated = before.At(i)["state"]["terminated"];
    if (terminated.is_null()) continue;
    const json::Value& name = before.At(i)["name"];
    for (const json::Value& now : pod.status()[list].items()) {
      if (now["name"] != name || !now["state"]["terminated"].is_null()) continue;
      const json::Value* container = FindNamed(containers, name);
      if (container == nullptr ||
          !MayRestart(*container, pod.spec()["restartPolicy"], terminated["exitCode"].AsInt())) {
        errors.Forbidden(FieldPath(FieldPath(FieldPath("status", list), i), "state"), kNoReturn);
      }
      break;
    }
  }
}

void ValidateClaimStatuses(const kube::Object& pod, FieldErrors& errors) {
  const json::Value& statuses = pod.status()["resourceClaimStatuses"];
  std::set<std::string> names;
  for (size_t i = 0; i < statuses.size(); ++i) {
    const std::string path = FieldPath(FieldPath("status.resourceClaimStatuses", i), "name");
    const json::Value& name = statuses.At(i)["name"];
    if (FindNamed(pod.spec()["resourceClaims"], name) == nullptr) {
      errors.Invalid(path, name, "must match the name of an entry in `spec.resourceClaims`");
    }
    if (!names.insert(name.ToString()).second) errors.Duplicate(path, name);
    const json::Value& claim = statuses.At(i)["resourceClaimName"];
    if (claim.is_null()) continue;
    if (const auto s = kube::ValidateDns1123Subdomain(claim.AsString()); !s.ok()) {
      errors.Invalid(path, claim, s.message());
    }
  }
}

// Checks a list of addresses: at most one of each family, all of them valid.
void ValidateAddressList(const kube::Object& old_pod, const kube::Object& pod,
                         absl::string_view list, FieldErrors& errors) {
  const std::string path = FieldPath("status", list);
  const json::Value& addresses = pod.status()[list];
  std::vector<std::string> before, shown;
  for (const json::Value& entry : old_pod.status()[list].items()) {
    before.push_back(entry["ip"].ToString());
  }
  bool has_v4 = false, has_v6 = false;
  for (size_t i = 0; i < addresses.size(); ++i) {
    const json::Value& ip = addresses.At(i)["ip"];
    RequireIpAddress(FieldPath(path, i), ip, before, errors);
    const bool v6 = ip.AsString().find(':') != absl::string_view::npos;
    has_v6 |= v6;
    has_v4 |= !v6;
    shown.push_back(absl::StrCat("{\"IP\":", json::Write(ip), "}"));
  }
  if (addresses.size() > 1 && !(addresses.size() == 2 && has_v4 && has_v6)) {
    errors.InvalidText(path, absl::StrCat("[", absl::StrJoin(shown, ","), "]"),
                       "may specify no more than one IP for each IP family");
  }
}

void ValidateUsers(const kube::Object& pod, absl::string_view list, FieldErrors& errors) {
  const json::Value& statuses = pod.status()[list];
  const auto check = [&](const std::string& path, const json::Value& id) {
    if (id.AsInt() < 0 || id.AsInt() > 2147483647) {
      errors.Invalid(path, id, "must be between 0 and 2147483647, inclusive");
    }
  };
  for (size_t i = 0; i < statuses.size(); ++i) {
    const json::Value& user = statuses.At(i)["user"]["linux"];
    if (user.is_null()) continue;
    const std::string path = absl::StrCat("status.", list, "[", i, "].user.linux");
    if (pod.spec()["os"]["name"] == "windows") {
      errors.Forbidden(path, "cannot be set for a windows pod");
      continue;
    }
    check(FieldPath(path, "uid"), user["uid"]);
    check(FieldPath(path, "gid"), user["gid"]);
    const json::Value& groups = user["supplementalGroups"];
    for (size_t k = 0; k < groups.size(); ++k) {
      check(FieldPath(FieldPath(path, "supplementalGroups"), k), groups.At(k));
    }
  }
}

void ValidateNomination(const kube::Object& old_pod, const kube::Object& pod, FieldErrors& errors) {
  const json::Value& node = pod.status()["nominatedNodeName"];
  if (node.AsString().empty() || node == old_pod.status()["nominatedNodeName"]) return;
  if (const auto s = kube::ValidateDns1123Subdomain(node.AsString()); !s.ok()) {
    errors.Invalid("status.nominatedNodeName", node, s.message());
  }
  if (!old_pod.spec()["nodeName"].AsString().empty()) {
    errors.Forbidden("status.nominatedNodeName",
                     "may not be set on pods that are already bound to a node");
  }
}

}  // namespace

void KeepPodStatus(const kube::Object& old_object, kube::Object& object) {
  const json::Value& old = old_object.status();
  if (object.status()["qosClass"].AsString().empty() && !old["qosClass"].is_null()) {
    object.Set({"status", "qosClass"}, old["qosClass"]);
  }
  if (object.status()["observedGeneration"].AsInt() == 0 && !old["observedGeneration"].is_null()) {
    object.Set({"status", "observedGeneration"}, old["observedGeneration"]);
  }
  std::map<std::string, std::deque<int64_t>> generations;  // By the type of the condition.
  for (const json::Value& condition : old["conditions"].items()) {
    generations[condition["type"].ToString()].push_back(condition["observedGeneration"].AsInt());
  }
  for (size_t i = 0; i < object.status()["conditions"].size(); ++i) {
    const json::Value& condition = object.status()["conditions"].At(i);
    std::deque<int64_t>& kept = generations[condition["type"].ToString()];
    if (kept.empty()) continue;
    const int64_t generation = kept.front();
    kept.pop_front();
    if (generation == 0 || condition["observedGeneration"].AsInt() != 0) continue;
    object.mutable_root()
        .Mutable(json::Path({"status", "conditions"}))
        .MutableAt(i)
        .Set("observedGeneration", generation);
  }
}

void ValidatePodStatus(const kube::Object& old_object, const kube::Object& object,
                       FieldErrors& errors) {
  const json::Value& status = object.status();
  ValidateConditions(status["conditions"], errors);
  ValidateNomination(old_object, object, errors);
  if (status["observedGeneration"].AsInt() < 0) {
    errors.Invalid("status.observedGeneration", status["observedGeneration"],
                   "must be a non-negative integer");
  }
  if (status["qosClass"].ToString() != old_object.status()["qosClass"].ToString()) {
    errors.Invalid("status.qosClass", status["qosClass"].ToString(), "field is immutable");
  }
  const json::Value none;
  ValidateTransitions(old_object, object, "containerStatuses", object.spec()["containers"], errors);
  ValidateTransitions(old_object, object, "initContainerStatuses", object.spec()["initContainers"],
                      errors);
  // With no containers, because those that only debug are never restarted.
  ValidateTransitions(old_object, object, "ephemeralContainerStatuses", none, errors);
  ValidateClaimStatuses(object, errors);
  ValidateAddressList(old_object, object, "podIPs", errors);
  ValidateAddressList(old_object, object, "hostIPs", errors);
  const json::Value& hosts = status["hostIPs"];
  if (!hosts.empty() && hosts.At(0)["ip"].ToString() != status["hostIP"].ToString()) {
    errors.Invalid("status.hostIPs[0].ip", hosts.At(0)["ip"], "must be equal to `hostIP`");
  }
  for (const absl::string_view list :
       {"containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"}) {
    ValidateUsers(object, list, errors);
  }
}

}  // namespace sandbox
