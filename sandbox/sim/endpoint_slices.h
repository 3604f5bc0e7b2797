// Simulates the controller for EndpointSlices: the pods behind a Service.
#ifndef SANDBOX_SIM_ENDPOINT_SLICES_H_
#define SANDBOX_SIM_ENDPOINT_SLICES_H_

#include "sandbox/sim/controller.h"

namespace sandbox {

// Keeps one slice for each Service that has a selector: its running pods, whether they are ready,
// and the numbers of its ports. Slices that others have made stay as they are.
class EndpointSlices {
 public:
  // REQUIRES: `backend` and `loop` outlive this object.
  EndpointSlices(Backend& backend, EventLoop& loop);

 private:
  absl::Status Reconcile(const kube::ObjectKey& service);
  // Enqueues all Services of the namespace of a pod: `ns` has its name.
  absl::Status ReconcilePodsOf(const kube::ObjectKey& ns);

  Backend& backend_;
  Controller pods_;
  Controller services_;
};

}  // namespace sandbox

#endif  // SANDBOX_SIM_ENDPOINT_SLICES_H_
