// How simulators change objects: only when something differs, and never over somebody else's
// change.
#ifndef SANDBOX_SIM_WRITES_H_
#define SANDBOX_SIM_WRITES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/json.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "sandbox/storage/backend.h"

namespace sandbox {

// The object; null, rather than an error, when it is not there.
absl::StatusOr<kube::ObjectPtr> FindObject(Backend& backend, const kube::Gvr& r,
                                           const kube::ObjectKey& key);

// Puts the status on the object as it was read; kAborted when it has changed since. Equal: no
// write.
absl::Status WriteStatus(Backend& backend, const kube::Gvr& r, const kube::Object& read,
                         json::Value status);

// Applies a merge patch on the condition that the object is still the one that was read.
absl::Status PatchAsRead(Backend& backend, const kube::Gvr& r, const kube::Object& read,
                         json::Value patch);

// Deletes in the background; gone already is fine. `read` gives the uid that is meant.
absl::Status DeleteAsRead(Backend& backend, const kube::Gvr& r, const kube::Object& read,
                          absl::string_view propagation = "Background");

// Creates unless there is one of that name.
absl::Status EnsureObject(Backend& backend, const kube::Gvr& r, kube::Object object);

// NotFound counts as done.
absl::Status UnlessGone(const absl::Status& status);

// Returns whether `labels` has every label of `wanted`; both may be null.
bool HasLabels(const json::Value& labels, const json::Value& wanted);
// Returns whether a metav1.LabelSelector matches; a malformed one matches nothing.
bool SelectorMatches(const json::Value& selector, const json::Value& labels);

// An owner reference with controller and blockOwnerDeletion set.
json::Value ControllerRefTo(const kube::Object& owner);

// Conditions of the apps and batch kinds, which keep time stamps of their own. Whether anything
// changed.
struct WorkloadCondition {
  absl::string_view type, status, reason;
  std::string message;
  absl::string_view second_stamp =
      "lastUpdateTime";  // Or "lastProbeTime"; moves with every change.
  bool touch = false;    // Moves the second stamp even when nothing changed.
};
bool SetWorkloadCondition(json::Value& conditions, const WorkloadCondition& condition,
                          absl::Time now);

}  // namespace sandbox

#endif  // SANDBOX_SIM_WRITES_H_
