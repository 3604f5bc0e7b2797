// Gives every namespace its ServiceAccount "default", as a cluster's controller manager does.
#ifndef SANDBOX_SIM_SERVICE_ACCOUNTS_H_
#define SANDBOX_SIM_SERVICE_ACCOUNTS_H_

#include "sandbox/sim/controller.h"

namespace sandbox {

class ServiceAccounts {
 public:
  // REQUIRES: `backend` and `loop` outlive this object.
  ServiceAccounts(Backend& backend, EventLoop& loop);

 private:
  absl::Status Reconcile(const kube::ObjectKey& key);

  Backend& backend_;
  Controller controller_;
};

}  // namespace sandbox

#endif  // SANDBOX_SIM_SERVICE_ACCOUNTS_H_
