// The loop of MultiClusterServices: it makes providers known to the collecting loop, and has the
// Service propagated (upstream's multiclusterservice-controller).
#ifndef CONTROLLERS_MULTI_CLUSTER_SERVICE_MULTI_CLUSTER_SERVICE_RECONCILER_H_
#define CONTROLLERS_MULTI_CLUSTER_SERVICE_MULTI_CLUSTER_SERVICE_RECONCILER_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/status.h"
#include "base/stop_token.h"
#include "controllers/context/seen_deletions.h"
#include "controllers/multi_cluster_service/condition_report.h"
#include "controllers/multi_cluster_service/service_edits.h"
#include "kube/meta/object.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/reconciler.h"
#include "works/collected_slices.h"
#include "works/rechecks.h"
#include "works/work_writer.h"

namespace controllers {

// For a MultiClusterService of type CrossCluster: each provider cluster has a Work that carries it
// and is not dispatched; the Service of its name is claimed and has a binding for all providers and
// consumers; the condition ServiceApplied shows it. For any other there is nothing of that.
class MultiClusterServiceReconciler : public kube::Reconciler {
 public:
  struct Deps {
    kube::Manager& manager;
    const works::Rechecks& rechecks;
    std::shared_ptr<ServiceEdits> edits;
    std::shared_ptr<DeterminedConditions> determined = std::make_shared<DeterminedConditions>();
    // The services that were deleted.
    std::shared_ptr<SeenDeletions> seen = std::make_shared<SeenDeletions>();
  };
  // REQUIRES: what `deps` refers to outlives the reconciler.
  explicit MultiClusterServiceReconciler(Deps deps);

  // The request names a MultiClusterService, which may be missing; with `reason` kReportUnfit, see
  // unfit_clusters.h.
  absl::StatusOr<kube::Action> Reconcile(const kube::Request& request,
                                         const base::StopToken& stop) override;

 private:
  // What the steps of a pass have led to.
  struct Pass {
    base::ErrorList errors;
    bool changed = false;

    void Add(const absl::StatusOr<bool>& step);
  };

  absl::Status Propagate(const kube::ObjectPtr& found, const base::StopToken& stop);
  absl::Status Withdraw(const kube::ObjectPtr& service, const base::StopToken& stop);
  absl::StatusOr<kube::Action> CleanUpAfter(const kube::ObjectKey& key,
                                            const base::StopToken& stop);
  // Reports on the Works of a service that is missing that they stay.
  kube::Action ReportKept(const kube::ObjectKey& key);
  bool HasTraces(const kube::ObjectKey& key) const;

  // Steps; they return whether anything was written.
  absl::StatusOr<bool> WriteWorkFor(const kube::Object& service, const std::string& cluster,
                                    const base::StopToken& stop);
  absl::StatusOr<bool> PropagateService(const kube::Object& service, const base::StopToken& stop);
  absl::StatusOr<bool> WriteBinding(const kube::Object& service, const kube::Object& target,
                                    const base::StopToken& stop);
  absl::StatusOr<bool> Release(const kube::ObjectKey& key, const base::StopToken& stop);
  // Deletes the Works of the service in all clusters but those that `stays` holds for, and takes
  // off what was collected there.
  absl::StatusOr<bool> DeleteWorks(const kube::ObjectKey& key,
                                   const std::function<bool(const std::string& cluster)>& stays,
                                   const base::StopToken& stop);

  Deps deps_;
  works::WorkWriter writer_;
  works::CollectedSlices collected_;
  kube::EventRecorder recorder_;
};

// An index of the Works that carry a MultiClusterService, by its key.
inline constexpr char kWorksByMultiClusterService[] = "multi-cluster-service";
std::vector<std::string> MultiClusterServiceIndexValues(const kube::Object& work);

}  // namespace controllers

#endif  // CONTROLLERS_MULTI_CLUSTER_SERVICE_MULTI_CLUSTER_SERVICE_RECONCILER_H_
