// The remedy loop: which actions a cluster needs because of its conditions (upstream's
// remedy-controller).
#ifndef CONTROLLERS_REMEDY_REMEDY_RECONCILER_H_
#define CONTROLLERS_REMEDY_REMEDY_RECONCILER_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "api/reasons.h"
#include "base/stop_token.h"
#include "kube/meta/names.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/reconciler.h"

namespace controllers {

// status.remedyActions of a Cluster has the actions of all Remedies that concern and match it,
// sorted, each once.
class RemedyReconciler : public kube::Reconciler {
 public:
  // REQUIRES: `manager` outlives the reconciler.
  explicit RemedyReconciler(kube::Manager& manager)
      : manager_(manager), recorder_(manager.events(), api::kRemedyController) {}

  // The request names a Cluster; with `reason` kReportAbsent, a Remedy that is new: clusters that
  // it names and that do not exist are reported, and nothing else is done.
  absl::StatusOr<kube::Action> Reconcile(const kube::Request& request,
                                         const base::StopToken& stop) override;

  static constexpr kube::Reason kReportAbsent = "report absent clusters";

 private:
  void ReportAbsentClusters(const kube::ObjectKey& remedy);

  kube::Manager& manager_;
  kube::EventRecorder recorder_;
};

}  // namespace controllers

#endif  // CONTROLLERS_REMEDY_REMEDY_RECONCILER_H_
