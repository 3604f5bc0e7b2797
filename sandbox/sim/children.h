// The objects and pods that a workload owns: shared by the workload simulators.
#ifndef SANDBOX_SIM_CHILDREN_H_
#define SANDBOX_SIM_CHILDREN_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "kube/meta/object.h"
#include "sandbox/storage/backend.h"

namespace sandbox {

// Returns the objects of `r` in the owner's namespace that `owner` controls. Objects that match its
// spec.selector and have no controller are adopted.
absl::StatusOr<std::vector<kube::ObjectPtr>> ClaimChildren(Backend& backend, const kube::Gvr& r,
                                                           const kube::Object& owner);

// Returns a pod made from the owner's spec.template and controlled by the owner. An empty `name`
// lets the server choose one.
kube::Object PodOf(const kube::Object& owner, const std::string& name);

// Who creates pods, for events: "job-controller".
struct PodCreator {
  const char* component;
  absl::Time now;
};
// Creates the pod unless one of its name exists. When the server refuses it (a quota), the owner
// gets the event FailedCreate, as from Kubernetes' controllers.
absl::Status CreatePod(Backend& backend, const kube::Object& owner, kube::Object pod,
                       const PodCreator& creator);
// Creates so many pods whose names the server chooses, until it refuses one.
absl::Status CreatePods(Backend& backend, const kube::Object& owner, int64_t count,
                        const PodCreator& creator);

// Returns whether the pod is neither finished nor being deleted.
bool IsActivePod(const kube::Object& pod);
bool IsReadyPod(const kube::Object& pod);
// Returns since when the pod is ready; InfiniteFuture when it is not.
absl::Time ReadySince(const kube::Object& pod);

// Ready and available pods as of `now`. A pod is available once it has been ready for
// minReadySeconds.
struct PodCounts {
  int64_t ready = 0;
  int64_t available = 0;
  absl::Duration next_available =
      absl::InfiniteDuration();  // The time until the next one becomes available.
};
PodCounts CountPods(const std::vector<kube::ObjectPtr>& pods, int64_t min_ready_seconds,
                    absl::Time now);

// Returns a short hash of a pod template that can be part of a name, as in the label
// pod-template-hash.
std::string TemplateHash(const json::Value& pod_template);

}  // namespace sandbox

#endif  // SANDBOX_SIM_CHILDREN_H_
