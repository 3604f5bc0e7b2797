// What the simulated controllers of workloads do alike: find the objects that an owner controls and
// adopt those that match and have no controller, make pods of its template, and count those that
// are ready. A pod that the server refuses stops the rest of a pass and is an event of the owner;
// the controller tries again after its back-off. Nothing is kept between two passes.

#include "sandbox/sim/children.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/names.h"
#include "base/status.h"
#include "kube/meta/selector.h"
#include "sandbox/kinds/api_errors.h"
#include "sandbox/sim/event_records.h"
#include "sandbox/sim/kinds.h"
#include "sandbox/sim/writes.h"

namespace sandbox {
namespace {

absl::Status Adopt(Backend& backend, const kube::Gvr& r, const kube::Object& owner,
                   const kube::Object& orphan) {
  json::Value owners = orphan.metadata()["ownerReferences"];
  owners.Append(ControllerRefTo(owner));
  json::Value patch;
  patch.Set({"metadata", "ownerReferences"}, std::move(owners));
  return PatchAsRead(backend, r, orphan, std::move(patch));
}

bool CanAdopt(const kube::Object& owner, const kube::Object& child) {
  // An owner that is deleted would take the orphan with it.
  return !owner.IsDeleting() && !child.IsDeleting() && child.ControllerOwner().uid.empty() &&
         SelectorMatches(owner.spec()["selector"], child.labels());
}

// Returns the message without the end of the name that the server has chosen. It is another one
// each time, and without it all refusals for one reason are one event.
std::string WithoutChosenName(std::string message, absl::string_view prefix) {
  constexpr size_t kChosen = 5;
  const size_t name = message.find(absl::StrCat("\"", prefix));
  if (prefix.empty() || name == std::string::npos) return message;
  const size_t end = name + 1 + prefix.size();
  if (message.find('"', end) == end + kChosen) message.erase(end, kChosen);
  return message;
}

void RecordRefusal(Backend& backend, const kube::Object& owner, const kube::Object& pod,
                   const absl::Status& refusal, const PodCreator& creator) {
  const std::string message = ErrorOf(refusal).message;
  const std::string text =
      pod.name().empty()
          ? absl::StrCat("Error creating: ",
                         WithoutChosenName(message, pod.metadata()["generateName"].AsString()))
          : absl::StrCat("create Pod ", pod.name(), " in ", owner.kind(), " ", owner.name(),
                         " failed error: ", message);
  RecordEvent(backend, {ReferenceTo(owner), "Warning", "FailedCreate", text, creator.component},
              creator.now);
}

}  // namespace

absl::StatusOr<std::vector<kube::ObjectPtr>> ClaimChildren(Backend& backend, const kube::Gvr& r,
                                                           const kube::Object& owner) {
  ASSIGN_OR_RETURN(const std::vector<kube::ObjectPtr> all,
                   backend.List(r, owner.ns(), kube::LabelSelector()));
  std::vector<kube::ObjectPtr> mine;
  for (const kube::ObjectPtr& child : all) {
    if (child->ControllerOwner().uid == owner.uid()) {
      mine.push_back(child);
    } else if (CanAdopt(owner, *child)) {
      RETURN_IF_ERROR(Adopt(backend, r, owner, *child));
      ASSIGN_OR_RETURN(kube::ObjectPtr adopted, FindObject(backend, r, child->key()));
      if (adopted != nullptr) mine.push_back(std::move(adopted));
    }
  }
  return mine;
}

kube::Object PodOf(const kube::Object& owner, const std::string& name) {
  const json::Value& pod_template = owner.spec()["template"];
  kube::Object pod = kube::Object::Make(kinds::Pods().gvk, {std::string(owner.ns()), name});
  json::Value& metadata = pod.mutable_root().Mutable("metadata");
  if (name.empty()) {
    // The server generates the name.
    metadata.Erase("name");
    metadata.Set("generateName", absl::StrCat(owner.name(), "-"));
  }
  for (const char* field : {"labels", "annotations", "finalizers"}) {
    const json::Value& value = pod_template["metadata"][field];
    if (!value.empty()) metadata.Set(field, value);
  }
  metadata.Set("ownerReferences", json::Value::Array({ControllerRefTo(owner)}));
  pod.Set({"spec"}, pod_template["spec"]);
  return pod;
}

absl::Status CreatePod(Backend& backend, const kube::Object& owner, kube::Object pod,
                       const PodCreator& creator) {
  const absl::Status created = EnsureObject(backend, kinds::Pods().gvr(), pod);
  if (!created.ok()) RecordRefusal(backend, owner, pod, created, creator);
  return created;
}

absl::Status CreatePods(Backend& backend, const kube::Object& owner, int64_t count,
                        const PodCreator& creator) {
  for (int64_t i = 0; i < count; ++i) {
    RETURN_IF_ERROR(CreatePod(backend, owner, PodOf(owner, ""), creator));
  }
  return absl::OkStatus();
}

bool IsActivePod(const kube::Object& pod) {
  const absl::string_view phase = pod.status()["phase"].AsString();
  return !pod.IsDeleting() && phase != "Succeeded" && phase != "Failed";
}

bool IsReadyPod(const kube::Object& pod) {
  return kube::IsConditionTrue(pod.status()["conditions"], "Ready");
}

absl::Time ReadySince(const kube::Object& pod) {
  if (!IsReadyPod(pod)) return absl::InfiniteFuture();
  const json::Value* ready = kube::FindCondition(pod.status()["conditions"], "Ready");
  const auto since = kube::ParseTime((*ready)["lastTransitionTime"].AsString());
  return since.ok() ? *since : absl::InfinitePast();
}

PodCounts CountPods(const std::vector<kube::ObjectPtr>& pods, int64_t min_ready_seconds,
                    absl::Time now) {
  PodCounts counts;
  for (const kube::ObjectPtr& pod : pods) {
    if (!IsActivePod(*pod) || !IsReadyPod(*pod)) continue;
    ++counts.ready;
    if (min_ready_seconds == 0) {
      ++counts.available;
      continue;
    }
    const absl::Duration left = ReadySince(*pod) + absl::Seconds(min_ready_seconds) - now;
    if (left <= absl::ZeroDuration()) ++counts.available;
    if (left > absl::ZeroDuration()) counts.next_available = std::min(counts.next_available, left);
  }
  return counts;
}

std::string TemplateHash(const json::Value& pod_template) {
  return api::SafeEncode(absl::StrCat(api::Fnv1a32(json::Write(pod_template))));
}

}  // namespace sandbox
