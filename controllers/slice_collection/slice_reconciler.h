// The loop over EndpointSlices of members: it keeps a Work for each slice that its collector wants
// (upstream's service-export-controller and endpointslice-collect-controller).
#ifndef CONTROLLERS_SLICE_COLLECTION_SLICE_RECONCILER_H_
#define CONTROLLERS_SLICE_COLLECTION_SLICE_RECONCILER_H_

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/stop_token.h"
#include "controllers/context/seen_deletions.h"
#include "controllers/slice_collection/lasting_failures.h"
#include "controllers/slice_collection/slice_limits.h"
#include "controllers/slice_collection/slice_sources.h"
#include "controllers/slice_collection/slice_watches.h"
#include "kube/meta/object.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/reconciler.h"
#include "kube/runtime/work_queue.h"
#include "works/collected_slices.h"
#include "works/write_pace.h"

namespace controllers {

// A Service whose pods are added and removed changes its slices many times a second, and each write
// of a Work leads to further ones: in the control plane, and in every cluster that uses the
// Service. So the first change is written at once, and what follows once in this time, as it is by
// then.
inline constexpr absl::Duration kBetweenSliceWrites = absl::Seconds(1);
// How long a failure waits that only a change from outside ends, if there is none.
inline constexpr absl::Duration kAfterLastingFailure = absl::Minutes(5);
// How soon is looked again at a Service, or at a member, with more slices than are collected: one
// of those that were collected may have gone, and another one takes its place.
inline constexpr absl::Duration kBetweenReviews = absl::Minutes(1);

class SliceReconciler : public kube::Reconciler {
 public:
  SliceReconciler(SliceCollection collection, std::shared_ptr<SliceSources> sources,
                  std::shared_ptr<LastingFailures> failures, std::shared_ptr<SeenDeletions> seen)
      : collection_(std::move(collection)),
        sources_(std::move(sources)),
        limits_(collection_.manager.clock()),
        works_(collection_.manager.cluster()),
        pace_(collection_.manager.clock()),
        failures_(std::move(failures)),
        seen_(std::move(seen)),
        recorder_(collection_.manager.events(), collection_.source, outcomes()) {}

  // Call it before the loop runs. REQUIRES: the queue, which is this loop's own, outlives the last
  // pass.
  void Attach(kube::WorkQueue& queue) { queue_ = &queue; }

  // The request is one of those of slice_sources.h.
  absl::StatusOr<kube::Action> Reconcile(const kube::Request& request,
                                         const base::StopToken& stop) override;

 private:
  absl::StatusOr<kube::Action> ReconcileSlice(const kube::Request& request,
                                              const kube::Object& cluster,
                                              const base::StopToken& stop);
  // Returns whether slices of the Service are asked for.
  bool IsAskedFor(const std::string& cluster, const kube::ObjectKey& service,
                  const SliceSources::Listed& listed);
  // Returns whether the slice, which may be nullptr, has to have a Work, as far as the limits do
  // not matter.
  bool IsWanted(const std::string& cluster, const kube::Object* slice,
                const SliceSources::Listed& listed);
  // Returns whether all that the slice of this Work lacks is the Work of its MultiClusterService,
  // which was not seen to go. A restored backup may bring it yet.
  bool AwaitsDemand(const kube::Object& work, const kube::Object* slice,
                    const SliceSources::Listed& listed);
  // The same with regard to the limits.
  bool IsCollected(const std::string& cluster, const kube::Object* slice,
                   const SliceSources::Listed& listed);
  // Returns whether the slice is one of those that are collected if there is too much; brings a
  // review when there is.
  bool IsWithinLimits(const std::string& cluster, const kube::Object& slice,
                      const SliceSources::Listed& listed);
  // Ends a pass that has tried to write; `tried` is nullptr if the slice is not wanted.
  absl::StatusOr<kube::Action> Finish(const kube::Request& request,
                                      const LastingFailures::State* tried,
                                      const absl::StatusOr<bool>& written);
  void Report(const kube::Request& request, const kube::Object& slice, const absl::Status& result);
  // Report that a Service, or the member, has more slices than are collected, or has no more, and
  // return when to look again.
  kube::Action ReviewService(const std::string& cluster, const kube::ObjectKey& service,
                             const SliceSources::Listed& listed);
  kube::Action ReviewMember(const std::string& cluster, const SliceSources::Listed& listed);
  kube::Action Review(const std::string& cluster, const kube::ObjectKey& service,
                      const absl::Status& within);
  // Brings such a review soon, unless one is due anyway. Without a name: of the member.
  void QueueReview(const std::string& cluster, const kube::ObjectKey& service);
  void ForgetReviews(const std::string& cluster);
  // Forgets a member that is not looked at any more.
  void Forget(const std::string& cluster);
  // Returns whom events about slices of the Service concern: what asks for them, else the Cluster,
  // since an export that somebody has made in the member by hand has no Work.
  std::vector<kube::InvolvedObject> Concerned(const std::string& cluster,
                                              const kube::ObjectKey& service);
  // Queue what a request for a Service or for everything is about.
  void QueueService(const std::string& cluster, const kube::ObjectKey& service,
                    const SliceSources::Listed& listed);
  void QueueAll(const std::string& cluster, const SliceSources::Listed& listed);
  void QueueSlice(const std::string& cluster, const kube::ObjectKey& slice);

  const SliceCollection collection_;
  const std::shared_ptr<SliceSources> sources_;
  SliceLimits limits_;
  works::CollectedSlices works_;
  works::WritePace pace_;
  const std::shared_ptr<LastingFailures> failures_;
  const std::shared_ptr<SeenDeletions> seen_;  // By DemandOf.
  kube::EventRecorder recorder_;
  kube::WorkQueue* queue_ = nullptr;
  absl::Mutex mu_;
  // A cluster and a Service, or no name for the whole member: where too much was reported. As long
  // as one is here, a request for it is in the queue.
  std::set<std::pair<std::string, kube::ObjectKey>> excessive_ ABSL_GUARDED_BY(mu_);
};

}  // namespace controllers

#endif  // CONTROLLERS_SLICE_COLLECTION_SLICE_RECONCILER_H_
