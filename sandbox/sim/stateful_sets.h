// Simulates StatefulSets: pods with ordinals, created and replaced in order. (Volume claims and
// ControllerRevisions are not simulated: a partitioned update gives every new pod the new
// template.)
#ifndef SANDBOX_SIM_STATEFUL_SETS_H_
#define SANDBOX_SIM_STATEFUL_SETS_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "sandbox/sim/controller.h"

namespace sandbox {

class StatefulSets {
 public:
  // REQUIRES: `backend` and `loop` outlive this object.
  StatefulSets(Backend& backend, EventLoop& loop);

 private:
  using PodsByOrdinal = std::map<int64_t, kube::ObjectPtr>;

  absl::Status Reconcile(const kube::ObjectKey& key);
  absl::StatusOr<PodsByOrdinal> PodsOf(const kube::Object& set);
  // Takes one step towards the wanted pods; returns whether it changed anything.
  absl::StatusOr<bool> Step(const kube::Object& set, const PodsByOrdinal& pods);
  absl::StatusOr<bool> Fill(const kube::Object& set, const PodsByOrdinal& pods);
  absl::StatusOr<bool> Trim(const kube::Object& set, const PodsByOrdinal& pods);
  absl::StatusOr<bool> Replace(const kube::Object& set, const PodsByOrdinal& pods);
  absl::Status UpdateStatus(const kube::Object& set, const PodsByOrdinal& pods);

  Backend& backend_;
  Controller controller_;
};

}  // namespace sandbox

#endif  // SANDBOX_SIM_STATEFUL_SETS_H_
