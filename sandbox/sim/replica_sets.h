// Simulates ReplicaSets, which keep their number of pods.
#ifndef SANDBOX_SIM_REPLICA_SETS_H_
#define SANDBOX_SIM_REPLICA_SETS_H_

#include <vector>

#include "sandbox/sim/controller.h"

namespace sandbox {

class ReplicaSets {
 public:
  // REQUIRES: `backend` and `loop` outlive this object.
  ReplicaSets(Backend& backend, EventLoop& loop);

 private:
  absl::Status Reconcile(const kube::ObjectKey& key);
  absl::Status Scale(const kube::Object& set, std::vector<kube::ObjectPtr> active);
  // `scaled` is what became of the creation and deletion of pods.
  absl::Status UpdateStatus(const kube::Object& set, const absl::Status& scaled);

  Backend& backend_;
  Controller controller_;
};

}  // namespace sandbox

#endif  // SANDBOX_SIM_REPLICA_SETS_H_
