// The quota sync loop: ResourceQuotas in the clusters that a FederatedResourceQuota names
// (upstream's federated-resource-quota-sync-controller).
#ifndef CONTROLLERS_FEDERATED_QUOTA_QUOTA_SYNC_RECONCILER_H_
#define CONTROLLERS_FEDERATED_QUOTA_QUOTA_SYNC_RECONCILER_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/stop_token.h"
#include "kube/meta/object.h"
#include "kube/runtime/conflict_streak.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/reconciler.h"
#include "loops/context.h"
#include "works/work_writer.h"

namespace controllers {

// For each cluster that spec.staticAssignments names there is a Work with a ResourceQuota of the
// quota's name, in its namespace; there are no other Works of the quota.
class QuotaSyncReconciler : public kube::Reconciler {
 public:
  // REQUIRES: `manager` outlives the reconciler.
  explicit QuotaSyncReconciler(kube::Manager& manager);

  // The request names a FederatedResourceQuota; with `variant` kReportAbsent, one whose assignments
  // are new: clusters that do not exist are reported, and nothing else is done.
  absl::StatusOr<kube::Action> Reconcile(const kube::Request& request,
                                         const base::StopToken& stop) override;

  static constexpr int kReportAbsent = 1;

 private:
  struct Synced {
    absl::Status status;
    bool changed = false;
  };

  // `quota` is nullptr when it is gone.
  Synced Sync(const kube::ObjectKey& key, const kube::Object* quota, const base::StopToken& stop);
  absl::StatusOr<bool> WriteFor(const kube::Object& quota, const kube::Object& cluster,
                                const base::StopToken& stop);
  void ReportAbsentClusters(const kube::Object& quota);

  kube::Manager& manager_;
  works::WorkWriter writer_;
  kube::EventRecorder recorder_;
  kube::ConflictStreak conflicts_;
};

// Builds the loop.
absl::Status RegisterQuotaSync(const loops::Context& context, int workers);

}  // namespace controllers

#endif  // CONTROLLERS_FEDERATED_QUOTA_QUOTA_SYNC_RECONCILER_H_
