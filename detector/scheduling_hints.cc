#include "detector/scheduling_hints.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/priority_class.h"
#include "base/status.h"
#include "kube/client/errors.h"

namespace detector {
namespace {

// Sets `group` to "<key>=<value>" if the object has the label by which the term groups workloads.
void PutGroup(const json::Value& term, const kube::Object& object, absl::string_view group,
              json::Value& groups) {
  if (term.is_null()) return;
  const absl::string_view key = term["groupByLabelKey"].AsString();
  const json::Value* label = object.labels().Find(key);
  if (label != nullptr) groups.Set(group, absl::StrCat(key, "=", label->AsString()));
}

}  // namespace

absl::string_view PriorityClassOf(const kube::Object& policy) {
  return policy.spec()["schedulePriority"]["priorityClassName"].AsString();
}

absl::StatusOr<json::Value> SchedulePriorityOf(const kube::Object& policy,
                                               kube::ClusterClient& client,
                                               const base::StopToken& stop) {
  const json::Value& wanted = policy.spec()["schedulePriority"];
  if (wanted.is_null()) return json::Value();
  const absl::string_view source = wanted["priorityClassSource"].AsString();
  if (source == "PodPriorityClass" || source == "FederatedPriorityClass") {
    return absl::InvalidArgumentError(absl::StrCat("priority class source is ", source, ", but ",
                                                   source, " is not supported yet"));
  }
  if (source != "KubePriorityClass") {
    return absl::InvalidArgumentError(
        absl::StrCat("unsupported priority class source \"", source, "\""));
  }
  const std::string name(PriorityClassOf(policy));
  const absl::StatusOr<kube::ObjectPtr> found =
      client.Get(api::PriorityClasses(), {"", name}, stop);
  if (kube::IsGone(found.status())) {
    return absl::FailedPreconditionError(
        absl::StrCat("priorityclasses.scheduling.k8s.io \"", name,
                     "\" not found; the policy's spec.schedulePriority names it"));
  }
  RETURN_IF_ERROR(base::Annotate(found.status(), "reading PriorityClass ", name));
  json::Value priority = json::Value::Object();
  const int64_t value = api::PriorityClassValue(**found);
  if (value != 0) priority.Set("priority", value);
  return priority;
}

json::Value AffinityGroupsOf(const kube::Object& policy, const kube::Object& object) {
  const json::Value& affinity = policy.spec()["placement"]["workloadAffinity"];
  json::Value groups;
  PutGroup(affinity["affinity"], object, "affinityGroup", groups);
  PutGroup(affinity["antiAffinity"], object, "antiAffinityGroup", groups);
  return groups;
}

}  // namespace detector
