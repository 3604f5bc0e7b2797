// The execution loop: applies each Work's manifests in its member cluster and reports the outcome
// in the Work's conditions (upstream's execution-controller). As Karmada v1.19 it also puts back
// what others change there, and makes again what they delete.
#ifndef CONTROLLERS_EXECUTION_EXECUTION_RECONCILER_H_
#define CONTROLLERS_EXECUTION_EXECUTION_RECONCILER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/json.h"
#include "base/stop_token.h"
#include "controllers/context/served_clusters.h"
#include "controllers/execution/handover.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/events.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/reconciler.h"
#include "works/drift_reports.h"
#include "works/edit_times.h"
#include "works/member_objects.h"
#include "works/rechecks.h"
#include "works/work_status_writer.h"

namespace controllers {

struct ExecutionDeps {
  kube::Manager& manager;
  works::MemberObjects& objects;
  works::WorkStatusWriter& status;
  // Works that wait for a namespace which this loop has made again are published through it.
  const works::Rechecks& rechecks;
  ServedClusters served = {};
  works::EditTimes* edit_times = nullptr;
};

class ExecutionReconciler : public kube::Reconciler {
 public:
  // REQUIRES: what `deps` refers to outlives the reconciler.
  explicit ExecutionReconciler(const ExecutionDeps& deps);

  // The request's key names a Work. Works of clusters that are not served are left alone; Works of
  // a cluster that is unknown or not ready wait for the cluster's next event, which queues them
  // again.
  absl::StatusOr<kube::Action> Reconcile(const kube::Request& request,
                                         const base::StopToken& stop) override;

 private:
  struct Target {
    std::string cluster;
    kube::ObjectPtr object;  // The Cluster; nullptr when it is unknown.
    kube::ObjectPtr work;
  };

  absl::StatusOr<kube::Action> Finalize(const Target& target, const base::StopToken& stop);
  // Deletes or releases the Work's objects in its cluster; a failure is reported.
  absl::Status RemoveManifests(const Target& target, bool preserve, const base::StopToken& stop);
  absl::Status DeleteManifests(const Target& target, const base::StopToken& stop);
  absl::Status DeleteManifest(const Target& target, const kube::Object& manifest,
                              const base::StopToken& stop);
  absl::Status ReleaseManifests(const Target& target, const base::StopToken& stop);
  // Does nothing for a Work whose manifests are not put into the cluster for now.
  kube::Action LeaveAlone(const Target& target);
  absl::Status Dispatch(const Target& target, const base::StopToken& stop);
  // Returns whether the member's object has changed.
  absl::StatusOr<bool> ApplyManifest(const Target& target, const kube::Object& manifest,
                                     const base::StopToken& stop);
  // Puts the manifest's object into the member. The drift that this puts back is counted.
  absl::StatusOr<works::ApplyResult> Put(const Target& target, const kube::Object& manifest,
                                         const base::StopToken& stop);
  void ReportDispatching(const Target& target, bool suspended);
  // What became of a Work's manifests.
  struct Applied {
    absl::Status result;
    absl::Status in_condition, in_events;  // `result` as these show it.
    int ok = 0, total = 0;
    bool changed = false;  // True if an object of the member has changed.
    // Items of status.manifestStatuses that withdraw the status of objects which are not there.
    std::vector<json::Value> withdrawn;
  };
  // Reports on the Work, as events, failures and the pass that ends them. Changes in the member are
  // a routine success there; the template's event reports them.
  void ReportSync(const Target& target, const absl::Status& result, bool changed);
  void ReportApplied(const Target& target, const Applied& applied);
  // A manifest of a Work, and its index there.
  struct Item {
    const kube::Object& manifest;
    int ordinal;
  };
  // Returns whether the manifest could not be applied and its object is not in the cluster, while
  // the Work has a status of it.
  bool IsAbsentAfter(const absl::Status& applied, const Target& target, const Item& item,
                     const base::StopToken& stop);

  // Decides on the objects of a Work that is being deleted, whose cluster is ready.
  absl::StatusOr<Handover::Objects> DecideOnObjects(const Target& target,
                                                    const base::StopToken& stop);

  kube::Manager& manager_;
  works::MemberObjects& objects_;
  works::WorkStatusWriter& status_;
  const works::Rechecks& rechecks_;
  const ServedClusters served_;
  works::EditTimes* const edit_times_;  // May be nullptr.
  Handover handover_;
  kube::EventRecorder recorder_;
  works::DriftReports drifts_;  // Unused with works::Repairs::kByObject.
};

// Returns whether an update of a Cluster changes how its Works are handled: the cluster became
// ready, its deletion began, or it stopped being ready while being deleted, which ends the attempts
// to delete the objects there.
bool WorksChangeTheirCourse(const kube::Object& before, const kube::Object& after);

// Returns the error of an apply, with "not found" turned into a conflict, which for a few tries
// does not count as an outcome. The namespace of an application reaches the member as a Work of its
// own, at the same moment as the objects do.
absl::Status ConflictIfGone(const absl::Status& applied);

}  // namespace controllers

#endif  // CONTROLLERS_EXECUTION_EXECUTION_RECONCILER_H_
