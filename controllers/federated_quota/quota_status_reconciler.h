// The quota status loop: what clusters say of the ResourceQuotas that a FederatedResourceQuota made
// there (upstream's federated-resource-quota-status-controller).
#ifndef CONTROLLERS_FEDERATED_QUOTA_QUOTA_STATUS_RECONCILER_H_
#define CONTROLLERS_FEDERATED_QUOTA_QUOTA_STATUS_RECONCILER_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "api/federated_resource_quota.h"
#include "base/status.h"
#include "base/stop_token.h"
#include "kube/meta/object.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/reconciler.h"

namespace controllers {

// status.aggregatedStatus has an item for each cluster that has applied the quota's Work and
// reported a status. The sums over all clusters are this loop's, too, while quotas are not
// enforced.
class QuotaStatusReconciler : public kube::Reconciler {
 public:
  // `sums_up` is false when the enforcement loop owns status.overall and status.overallUsed.
  // REQUIRES: `manager` outlives the reconciler.
  QuotaStatusReconciler(kube::Manager& manager, bool sums_up);

  absl::StatusOr<kube::Action> Reconcile(const kube::Request& request,
                                         const base::StopToken& stop) override;

 private:
  // Clusters whose status cannot be read are left out, and are errors.
  std::vector<api::ClusterQuotaStatus> Collect(const kube::ObjectKey& quota,
                                               base::ErrorList& errors);
  // Returns whether the status has changed.
  absl::StatusOr<bool> Write(const kube::ObjectPtr& quota, const base::StopToken& stop);

  kube::Manager& manager_;
  const bool sums_up_;
  kube::EventRecorder recorder_;
};

}  // namespace controllers

#endif  // CONTROLLERS_FEDERATED_QUOTA_QUOTA_STATUS_RECONCILER_H_
