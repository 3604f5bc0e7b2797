// Simulates ResourceQuotas of a member: their usage, and the refusal of what would exceed them.
#ifndef SANDBOX_SIM_RESOURCE_QUOTAS_H_
#define SANDBOX_SIM_RESOURCE_QUOTAS_H_

#include "sandbox/sim/controller.h"
#include "sandbox/sim/node_ledger.h"
#include "sandbox/storage/backend.h"

namespace sandbox {

// Writes status.hard and status.used of every ResourceQuota.
class ResourceQuotas {
 public:
  // REQUIRES: `backend` and `loop` outlive this object.
  ResourceQuotas(Backend& backend, EventLoop& loop);

 private:
  // The name of `ns` is that of a namespace.
  absl::Status Reconcile(const kube::ObjectKey& ns);

  Backend& backend_;
  Controller controller_;
};

// Returns what an object counts against quotas, by the names that these use: "pods", "cpu",
// "requests.cpu", "limits.memory", "count/deployments.apps", "services.nodeports". A pod that has
// ended counts as an object and no more.
Amounts QuotaUsageOf(const kube::Resource& resource, const kube::Object& object);

// Returns a hook that refuses creations (403) as the plugin ResourceQuota does: those that would
// exceed a quota of the namespace, and pods without a request or limit that a quota counts. Changes
// of objects that exist are not refused. Of two creations at the same moment both may find room.
// REQUIRES: `backend` outlives the hook.
AdmissionHook ResourceQuotaAdmission(Backend& backend);

}  // namespace sandbox

#endif  // SANDBOX_SIM_RESOURCE_QUOTAS_H_
