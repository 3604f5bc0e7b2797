// Writes objects for simulators: only when something differs, and never over a change of somebody
// else.
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

// Returns the object; null, rather than an error, when it does not exist.
absl::StatusOr<kube::ObjectPtr> FindObject(Backend& backend, const kube::Gvr& r,
                                           const kube::ObjectKey& key);

// Sets the status of the object that was read; kAborted when the object has changed since. Nothing
// is written if the status is equal.
absl::Status WriteStatus(Backend& backend, const kube::Gvr& r, const kube::Object& read,
                         json::Value status);

// Applies a merge patch on the condition that the object has not changed since it was read.
absl::Status PatchAsRead(Backend& backend, const kube::Gvr& r, const kube::Object& read,
                         json::Value patch);

// Deletes in the background; OK also when the object is gone. Only the object with the uid of
// `read` is deleted.
absl::Status DeleteAsRead(Backend& backend, const kube::Gvr& r, const kube::Object& read,
                          absl::string_view propagation = "Background");

// Creates the object unless there is one of that name.
absl::Status EnsureObject(Backend& backend, const kube::Gvr& r, kube::Object object);

// Turns NotFound into OK.
absl::Status UnlessGone(const absl::Status& status);

// Returns whether `labels` has every label of `wanted`; both may be null.
bool HasLabels(const json::Value& labels, const json::Value& wanted);
// Returns whether a metav1.LabelSelector matches; a malformed one matches nothing.
bool SelectorMatches(const json::Value& selector, const json::Value& labels);

// Returns an owner reference with controller and blockOwnerDeletion set.
json::Value ControllerRefTo(const kube::Object& owner);

// A condition of the apps and batch kinds, which have additional time stamps. SetWorkloadCondition
// returns whether anything changed.
struct WorkloadCondition {
  absl::string_view type, status, reason;
  std::string message;
  absl::string_view second_stamp = "lastUpdateTime";  // Or "lastProbeTime"; set at every change.
  bool touch = false;  // True: the second stamp is set even if nothing changed.
};
bool SetWorkloadCondition(json::Value& conditions, const WorkloadCondition& condition,
                          absl::Time now);

}  // namespace sandbox

#endif  // SANDBOX_SIM_WRITES_H_
