// The work-status loop: watches what Works put into member clusters, puts drift back, creates again
// what somebody deleted, and collects status and health (upstream's work-status-controller).
#ifndef CONTROLLERS_WORKSTATUS_WORK_STATUS_RECONCILER_H_
#define CONTROLLERS_WORKSTATUS_WORK_STATUS_RECONCILER_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/stop_token.h"
#include "interpreter/interpreter.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/events.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/reconciler.h"
#include "loops/context.h"
#include "works/member_objects.h"
#include "works/work_status_writer.h"

namespace controllers {

struct WorkStatusDeps {
  kube::Manager& manager;
  works::MemberObjects& objects;
  works::WorkStatusWriter& status;
  const interpreter::Interpreter& interpreter;
};

class WorkStatusReconciler : public kube::Reconciler {
 public:
  // REQUIRES: everything in `deps` outlives the reconciler.
  explicit WorkStatusReconciler(WorkStatusDeps deps);

  // The request names an object in a member: cluster, gvk and key. Objects of pull clusters are
  // left to their agents, whatever queued them.
  absl::StatusOr<kube::Action> Reconcile(const kube::Request& request,
                                         const base::StopToken& stop) override;

 private:
  struct Observed {
    std::string cluster;
    kube::ObjectPtr object;  // In the member.
    kube::ObjectPtr work;
    int64_t index = 0;  // Of the manifest.
    kube::Object manifest;
  };

  absl::Status ReconcileObject(const kube::Request& request, const base::StopToken& stop);
  absl::Status Recreate(const kube::Request& request, const base::StopToken& stop);
  absl::Status RevertDrift(Observed& observed, const base::StopToken& stop);
  absl::Status Collect(const Observed& observed);
  absl::StatusOr<json::Value> ReflectStatus(const Observed& observed);
  absl::StatusOr<std::string> InterpretHealth(const Observed& observed);
  // An event on the template.
  void ReportRecreated(const kube::Object& manifest, const std::string& cluster,
                       const absl::Status& created);

  const WorkStatusDeps deps_;
  kube::EventRecorder recorder_;  // Of outcomes by the request for their object.
};

// Builds the loop, and the one that attaches it to the informers of every kind that Works carry.
absl::Status RegisterWorkStatus(const loops::Context& context, int workers);

}  // namespace controllers

#endif  // CONTROLLERS_WORKSTATUS_WORK_STATUS_RECONCILER_H_
