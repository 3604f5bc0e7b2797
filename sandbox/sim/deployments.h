// Deployments roll their template out through ReplicaSets.
#ifndef SANDBOX_SIM_DEPLOYMENTS_H_
#define SANDBOX_SIM_DEPLOYMENTS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "sandbox/sim/controller.h"
#include "sandbox/sim/rollout.h"

namespace sandbox {

class Deployments {
 public:
  // REQUIRES: `backend` and `loop` outlive this object.
  Deployments(Backend& backend, EventLoop& loop);

 private:
  // The ReplicaSets of one Deployment.
  struct Sets {
    kube::ObjectPtr current;  // Made from the present template; null when there is none yet.
    std::vector<kube::ObjectPtr> old;  // Sets of earlier templates, the oldest first.
  };

  absl::Status Reconcile(const kube::ObjectKey& key);
  absl::StatusOr<Sets> SetsOf(const kube::Object& deployment);
  absl::Status Sync(const kube::Object& deployment);
  absl::Status EnsureCurrent(const kube::Object& deployment, const Sets& sets);
  absl::Status Roll(const kube::Object& deployment, const Sets& sets);
  absl::Status Recreate(const kube::Object& deployment, const Sets& sets);
  absl::Status ScaleTo(const kube::Object& set, int64_t replicas);
  absl::Status DropHistory(const kube::Object& deployment, const Sets& sets);
  absl::Status UpdateStatus(const kube::Object& deployment, const Sets& sets);

  Backend& backend_;
  Controller controller_;
};

}  // namespace sandbox

#endif  // SANDBOX_SIM_DEPLOYMENTS_H_
