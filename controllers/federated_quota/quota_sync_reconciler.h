// The quota sync loop: ResourceQuotas in the clusters that a FederatedResourceQuota names
// (upstream's federated-resource-quota-sync-controller).
#ifndef CONTROLLERS_FEDERATED_QUOTA_QUOTA_SYNC_RECONCILER_H_
#define CONTROLLERS_FEDERATED_QUOTA_QUOTA_SYNC_RECONCILER_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/stop_token.h"
#include "controllers/context/seen_deletions.h"
#include "kube/meta/object.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/reconciler.h"
#include "works/work_writer.h"

namespace controllers {

// For each cluster that spec.staticAssignments names there is a Work with a ResourceQuota of the
// quota's name, in its namespace; there are no other Works of the quota.
class QuotaSyncReconciler : public kube::Reconciler {
 public:
  // `seen` has the quotas that were deleted. REQUIRES: `manager` outlives the reconciler.
  QuotaSyncReconciler(kube::Manager& manager, std::shared_ptr<SeenDeletions> seen);

  // The request names a FederatedResourceQuota; with `reason` kReportAbsent, one whose assignments
  // are new: clusters that do not exist are reported, and nothing else is done.
  absl::StatusOr<kube::Action> Reconcile(const kube::Request& request,
                                         const base::StopToken& stop) override;

  static constexpr kube::Reason kReportAbsent = "report absent clusters";

 private:
  struct Synced {
    absl::Status status;
    bool changed = false;
  };

  Synced Sync(const kube::Object& quota, const base::StopToken& stop);
  absl::StatusOr<kube::Action> CleanUpAfter(const kube::ObjectKey& key,
                                            const base::StopToken& stop);
  absl::Status DeleteWork(const kube::Object& work, const base::StopToken& stop);
  absl::StatusOr<bool> WriteFor(const kube::Object& quota, const kube::Object& cluster,
                                const base::StopToken& stop);
  void ReportAbsentClusters(const kube::Object& quota);

  kube::Manager& manager_;
  const std::shared_ptr<SeenDeletions> seen_;
  works::WorkWriter writer_;
  kube::EventRecorder recorder_;
};

}  // namespace controllers

#endif  // CONTROLLERS_FEDERATED_QUOTA_QUOTA_SYNC_RECONCILER_H_
