#include "sandbox/sim/writes.h"

#include <algorithm>
#include <utility>

#include "kube/meta/selector.h"

namespace sandbox {

absl::StatusOr<kube::ObjectPtr> FindObject(Backend& backend, const kube::Gvr& r,
                                           const kube::ObjectKey& key) {
  absl::StatusOr<kube::ObjectPtr> found = backend.Get(r, key);
  if (absl::IsNotFound(found.status())) return kube::ObjectPtr();
  return found;
}

absl::Status WriteStatus(Backend& backend, const kube::Gvr& r, const kube::Object& read,
                         json::Value status) {
  if (read.status() == status) return absl::OkStatus();
  kube::Object object = read;
  object.Set({"status"}, std::move(status));
  return UnlessGone(backend.Update(r, std::move(object), "status").status());
}

absl::Status PatchAsRead(Backend& backend, const kube::Gvr& r, const kube::Object& read,
                         json::Value patch) {
  patch.Set({"metadata", "resourceVersion"}, read.resource_version());
  PatchRequest request;
  request.patch = std::move(patch);
  return UnlessGone(backend.Patch(r, read.key(), request).status());
}

absl::Status DeleteAsRead(Backend& backend, const kube::Gvr& r, const kube::Object& read,
                          absl::string_view propagation) {
  DeleteRequest request;
  request.propagation = std::string(propagation);
  request.uid = std::string(read.uid());
  return UnlessGone(backend.Delete(r, read.key(), request).status());
}

absl::Status EnsureObject(Backend& backend, const kube::Gvr& r, kube::Object object) {
  const absl::Status status = backend.Create(r, std::move(object)).status();
  return absl::IsAlreadyExists(status) ? absl::OkStatus() : status;
}

absl::Status UnlessGone(const absl::Status& status) {
  return absl::IsNotFound(status) ? absl::OkStatus() : status;
}

bool HasLabels(const json::Value& labels, const json::Value& wanted) {
  const absl::Span<const json::Member> all = wanted.members();
  return std::all_of(all.begin(), all.end(), [&](const json::Member& label) {
    return labels[label.name()] == label.value;
  });
}

bool SelectorMatches(const json::Value& selector, const json::Value& labels) {
  const auto parsed = kube::LabelSelector::FromJson(selector);
  return parsed.ok() && parsed->Matches(labels);
}

json::Value ControllerRefTo(const kube::Object& owner) {
  return kube::OwnerRef{std::string(owner.api_version()),
                        std::string(owner.kind()),
                        std::string(owner.name()),
                        std::string(owner.uid()),
                        true,
                        true}
      .ToJson();
}

bool SetWorkloadCondition(json::Value& conditions, const WorkloadCondition& condition,
                          absl::Time now) {
  const json::Value stamp = kube::FormatTime(now);
  json::Value wanted = json::Value::Object({{"type", condition.type},
                                            {"status", condition.status},
                                            {"lastTransitionTime", stamp},
                                            {condition.second_stamp, stamp}});
  if (!condition.reason.empty()) wanted.Set("reason", condition.reason);
  if (!condition.message.empty()) wanted.Set("message", condition.message);
  for (size_t i = 0; i < conditions.size(); ++i) {
    const json::Value& old = conditions.At(i);
    if (old["type"].AsString() != condition.type) continue;
    const bool same_status = old["status"] == wanted["status"];
    if (same_status && old["reason"] == wanted["reason"] && old["message"] == wanted["message"] &&
        !condition.touch) {
      return false;
    }
    // The transition is that of the status; reason and message may change without one.
    if (same_status) wanted.Set("lastTransitionTime", old["lastTransitionTime"]);
    conditions.MutableAt(i) = std::move(wanted);
    return true;
  }
  conditions.Append(std::move(wanted));
  return true;
}

}  // namespace sandbox
