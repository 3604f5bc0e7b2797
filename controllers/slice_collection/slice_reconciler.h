// The loop over EndpointSlices of members: it keeps a Work for each slice that its collector wants
// (upstream's service-export-controller and endpointslice-collect-controller).
#ifndef CONTROLLERS_SLICE_COLLECTION_SLICE_RECONCILER_H_
#define CONTROLLERS_SLICE_COLLECTION_SLICE_RECONCILER_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/stop_token.h"
#include "controllers/slice_collection/slice_sources.h"
#include "controllers/slice_collection/slice_watches.h"
#include "kube/meta/object.h"
#include "kube/runtime/conflict_streak.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/reconciler.h"
#include "kube/runtime/work_queue.h"
#include "works/collected_slices.h"
#include "works/write_pace.h"

namespace controllers {

// A Service whose pods come and go changes its slices many times a second, and each write of a Work
// leads to further ones: in the control plane, and in every cluster that uses the Service. So the
// first change is written at once, and what follows once in this time, as it is by then.
inline constexpr absl::Duration kBetweenSliceWrites = absl::Seconds(1);
// How long a failure waits that only a change from outside ends.
inline constexpr absl::Duration kAfterLastingFailure = absl::Minutes(5);

class SliceReconciler : public kube::Reconciler {
 public:
  SliceReconciler(SliceCollection collection, std::shared_ptr<SliceSources> sources)
      : collection_(std::move(collection)),
        sources_(std::move(sources)),
        works_(collection_.manager.cluster()),
        pace_(collection_.manager.clock()),
        recorder_(collection_.manager.events(), collection_.source) {}

  // Call it before the loop runs. REQUIRES: the queue, which is this loop's own, outlives the last
  // pass.
  void Attach(kube::WorkQueue& queue) { queue_ = &queue; }

  // The request is one of the variants of slice_sources.h.
  absl::StatusOr<kube::Action> Reconcile(const kube::Request& request,
                                         const base::StopToken& stop) override;

 private:
  absl::StatusOr<kube::Action> ReconcileSlice(const kube::Request& request,
                                              const kube::Object& cluster,
                                              const base::StopToken& stop);
  // Returns whether the slice, which may be nullptr, has to have a Work.
  bool IsWanted(const std::string& cluster, const kube::Object* slice,
                const SliceSources::Listed& listed);
  // Ends a pass that has tried to write; the slice is nullptr if it is not wanted.
  absl::StatusOr<kube::Action> Finish(const kube::Request& request, const kube::Object* slice,
                                      const absl::StatusOr<bool>& written);
  void Report(const kube::Request& request, const kube::Object& slice, const absl::Status& result);
  // Queue what a request for a Service or for everything is about.
  void QueueService(const std::string& cluster, const kube::ObjectKey& service,
                    const SliceSources::Listed& listed);
  void QueueAll(const std::string& cluster, const SliceSources::Listed& listed);
  void QueueSlice(const std::string& cluster, const kube::ObjectKey& slice);

  const SliceCollection collection_;
  const std::shared_ptr<SliceSources> sources_;
  works::CollectedSlices works_;
  works::WritePace pace_;
  kube::EventRecorder recorder_;
  kube::ConflictStreak conflicts_;
  kube::WorkQueue* queue_ = nullptr;
};

}  // namespace controllers

#endif  // CONTROLLERS_SLICE_COLLECTION_SLICE_RECONCILER_H_
