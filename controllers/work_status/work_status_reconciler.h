// The work-status loop: watches the objects that Works put into member clusters, and collects
// status and health (upstream's work-status-controller). As Karmada up to v1.18 it also reverts
// drift and creates deleted objects again (works::Repairs::kByObject).
#ifndef CONTROLLERS_WORK_STATUS_WORK_STATUS_RECONCILER_H_
#define CONTROLLERS_WORK_STATUS_WORK_STATUS_RECONCILER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "api/blocked_deletion.h"
#include "base/stop_token.h"
#include "controllers/work_status/deps.h"
#include "controllers/work_status/health_reports.h"
#include "controllers/work_status/recreation.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/events.h"
#include "kube/runtime/reconciler.h"
#include "works/drift_reports.h"

namespace controllers {

// Reasons of this loop's requests. An object that is missing from the cache may never have
// existed, so only the event of its deletion makes this loop create it again: the first application
// is the execution loop's task, and both loops must not report on one object.
inline constexpr kube::Reason kMemberObjectSeen;
inline constexpr kube::Reason kMemberObjectDeleted = "deleted";
// The request names only a cluster that has left; everything about it is forgotten.
inline constexpr kube::Reason kClusterLeft = "cluster left";
// The request names nothing; what has been unhealthy for long is reported.
inline constexpr kube::Reason kLongUnhealthyObjects = "unhealthy for long";

class WorkStatusReconciler : public kube::Reconciler {
 public:
  // REQUIRES: everything in `deps` outlives the reconciler.
  explicit WorkStatusReconciler(WorkStatusDeps deps);

  // Puts requests of the reason kLongUnhealthyObjects into the queue when they are due. Call it
  // before the loop runs. REQUIRES: the queue outlives the reconciler's last pass.
  void Attach(kube::WorkQueue& queue) {
    health_.LookWith(queue, {.reason = kLongUnhealthyObjects});
  }

  // The request names an object in a member by cluster, gvk and key; its reason is one of the
  // above. Objects of pull clusters are left to their agents, whatever queued them.
  absl::StatusOr<kube::Action> Reconcile(const kube::Request& request,
                                         const base::StopToken& stop) override;

 private:
  struct Observed {
    std::string cluster;
    kube::ObjectPtr object;  // The object in the member.
    kube::ObjectPtr work;
    int64_t index = 0;  // The index of the manifest in its Work.
    kube::Object manifest;
  };

  // Fills in what it finds.
  absl::Status ReconcileObject(const kube::Request& request, Observed& observed,
                               const base::StopToken& stop);
  // Reports once that finalizers in the member keep an object which its Work still wants. The
  // Action asks for a pass when that is due.
  kube::Action ReportBlockedDeletion(const kube::Request& request, const Observed& observed);
  void ForgetDeletion(const kube::Request& request);
  // Returns whether this loop repairs what others change in members.
  bool Repairs() const { return deps_.objects.repairs() == works::Repairs::kByObject; }
  absl::Status RevertDrift(Observed& observed, const base::StopToken& stop);
  absl::Status Collect(const Observed& observed);
  absl::StatusOr<json::Value> ReflectStatus(const Observed& observed);
  // Returns whether a routine event is due, because the Work does not have this status yet.
  bool IsNews(const json::Value& status, const Observed& observed) const;
  const WorkStatusDeps deps_;
  kube::EventRecorder recorder_;  // Remembers outcomes by the request for their object.
  HealthReports health_;
  // Unused with works::Repairs::kByWork.
  works::DriftReports drifts_;
  Recreation recreation_;
  absl::Mutex mu_;
  // The deletions that were reported.
  absl::flat_hash_map<kube::Request, api::BlockedDeletion> deletions_ ABSL_GUARDED_BY(mu_);
};

}  // namespace controllers

#endif  // CONTROLLERS_WORK_STATUS_WORK_STATUS_RECONCILER_H_
