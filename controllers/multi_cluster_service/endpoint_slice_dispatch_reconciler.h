// The loop that dispatches collected EndpointSlices to consumers (upstream's
// endpointslice-dispatch-controller).
#ifndef CONTROLLERS_MULTI_CLUSTER_SERVICE_ENDPOINT_SLICE_DISPATCH_RECONCILER_H_
#define CONTROLLERS_MULTI_CLUSTER_SERVICE_ENDPOINT_SLICE_DISPATCH_RECONCILER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/stop_token.h"
#include "controllers/context/seen_deletions.h"
#include "controllers/multi_cluster_service/condition_report.h"
#include "controllers/multi_cluster_service/slice_results.h"
#include "kube/meta/object.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/reconciler.h"
#include "works/work_writer.h"
#include "works/write_pace.h"

namespace controllers {

struct Dispatch;

// The pause between two writes of the same slice: a hundredth of a second for each consumer, since
// each of them is a write, but no less and no more than these.
inline constexpr absl::Duration kPausePerConsumer = absl::Milliseconds(10);
inline constexpr absl::Duration kDispatchPause = absl::Seconds(1);
inline constexpr absl::Duration kLongestDispatchPause = absl::Seconds(30);

// An EndpointSlice that was collected for a MultiClusterService has a Work in each consumer cluster
// but its own, and none in others; the condition EndpointSliceDispatched shows whether that holds
// for all slices of the service. What was dispatched from a slice that is not collected any more
// goes, and then the finalizer of the collected Work.
class EndpointSliceDispatchReconciler : public kube::Reconciler {
 public:
  // A failure that only a change from outside ends is tried again after this time.
  static constexpr absl::Duration kAfterLastingFailure = absl::Minutes(1);

  // `seen` has the collected Works that were deleted. REQUIRES: `manager` outlives the reconciler.
  explicit EndpointSliceDispatchReconciler(
      kube::Manager& manager,
      std::shared_ptr<DeterminedConditions> determined = std::make_shared<DeterminedConditions>(),
      std::shared_ptr<SeenDeletions> seen = std::make_shared<SeenDeletions>());

  // The request names a collected Work, which may be missing; with `reason` kReportUnfit, see
  // unfit_clusters.h.
  absl::StatusOr<kube::Action> Reconcile(const kube::Request& request,
                                         const base::StopToken& stop) override;

 private:
  absl::StatusOr<kube::Action> Dispatch(const kube::ObjectPtr& source, const std::string& provider,
                                        const kube::ObjectPtr& service,
                                        const base::StopToken& stop);
  // Steps of Dispatch; they return whether anything was written.
  absl::StatusOr<bool> DeleteElsewhere(const kube::Object& source, const kube::Object& service,
                                       const base::StopToken& stop);
  // kAlreadyExists (terminal) when the Work for the consumer carries something else, or another
  // Work puts a slice of that name there.
  absl::StatusOr<works::WorkWriter::Result> WriteFor(const struct Dispatch& dispatch,
                                                     const std::string& consumer,
                                                     const base::StopToken& stop);
  absl::StatusOr<bool> WriteAll(const kube::Object& source, const std::string& provider,
                                const kube::Object& service, const base::StopToken& stop);
  absl::StatusOr<kube::Action> CleanUpAfter(const kube::ObjectKey& key,
                                            const base::StopToken& stop);
  // `source` is nullptr when it is gone.
  absl::Status CleanUp(const kube::ObjectKey& key, const kube::ObjectPtr& source,
                       const base::StopToken& stop);
  // Writes the conditions of services that may say because of slices that are gone that a slice
  // failed: those of `left`, whose slice has just gone; if there are none, all that say so.
  absl::Status ReportOnFailed(const std::vector<kube::ObjectKey>& left,
                              const base::StopToken& stop);
  // Writes the condition of the service, if enough is known of its slices.
  absl::Status ReportOn(const kube::ObjectPtr& service, bool changed, const base::StopToken& stop);
  absl::Status DeleteWork(const kube::Object& work, const base::StopToken& stop);
  // Returns why the Work must not be written.
  absl::Status CheckPlace(const works::WantedWork& wanted, const kube::Object* existing,
                          const kube::ObjectKey& source) const;
  bool Consumes(const kube::Object& service, const std::string& cluster) const;

  kube::Manager& manager_;
  const std::shared_ptr<SeenDeletions> seen_;
  const std::shared_ptr<DeterminedConditions> determined_;
  works::WorkWriter writer_;
  works::WritePace pace_;
  SliceResults results_;
  kube::EventRecorder recorder_;
};

// An index of MultiClusterServices: those whose condition says that a slice failed are under
// kFailed.
inline constexpr char kServicesByDispatch[] = "services-by-dispatch";
inline constexpr char kFailed[] = "failed";
std::vector<std::string> DispatchIndexValues(const kube::Object& service);

}  // namespace controllers

#endif  // CONTROLLERS_MULTI_CLUSTER_SERVICE_ENDPOINT_SLICE_DISPATCH_RECONCILER_H_
