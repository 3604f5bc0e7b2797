// The loop over clusters of a collector of EndpointSlices: it watches slices, and ServiceExports,
// in the served clusters of which slices have to be collected, and in no others.
#ifndef CONTROLLERS_SLICE_COLLECTION_SLICE_WATCHES_H_
#define CONTROLLERS_SLICE_COLLECTION_SLICE_WATCHES_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "api/endpoint_slice.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "controllers/context/served_clusters.h"
#include "controllers/slice_collection/slice_sources.h"
#include "kube/meta/object.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/reconciler.h"
#include "kube/runtime/work_queue.h"

namespace controllers {

// What the two loops of a collector share.
struct SliceCollection {
  kube::Manager& manager;
  api::SliceCollector collector;
  std::string source;  // The source of its events.
  ServedClusters served = {};
};

class SliceWatches : public kube::Reconciler {
 public:
  // How soon a pass looks again: for a first list that is under way, for one that has failed, and
  // for a kind that is not served, or a connection that has been replaced without an event.
  static constexpr absl::Duration kListPoll = absl::Milliseconds(100);
  static constexpr absl::Duration kFailedListPoll = absl::Seconds(1);
  static constexpr absl::Duration kSlowPoll = absl::Minutes(1);
  // A failure that is over by then is not reported: a member's server may be starting.
  static constexpr absl::Duration kBeforeReport = absl::Seconds(10);
  // How long a member has to go on saying that it does not serve ServiceExports before that means
  // that there are none.
  static constexpr absl::Duration kBeforeNoExports = absl::Seconds(10);

  // Requests to look at all slices of a cluster go into `queue`. REQUIRES: the manager and the
  // queue outlive this object.
  SliceWatches(SliceCollection collection, std::shared_ptr<SliceSources> sources,
               kube::WorkQueue& queue)
      : collection_(std::move(collection)),
        sources_(std::move(sources)),
        queue_(queue),
        recorder_(collection_.manager.events(), collection_.source, outcomes()) {}

  // The request names a cluster.
  absl::StatusOr<kube::Action> Reconcile(const kube::Request& request,
                                         const base::StopToken& stop) override;

 private:
  bool IsNeeded(const std::string& cluster);
  // Reports what keeps the kinds from being listed, and returns when to look again.
  kube::Action Await(const kube::Object& cluster,
                     const std::vector<SliceSources::Waiting>& waiting);
  // Counts the exports of a member that does not serve them as none after kBeforeNoExports. Returns
  // how long that still takes. `is_unserved` is what the member and its status say now.
  absl::Duration AwaitNoExports(const std::string& cluster, bool is_unserved);
  // Reports the failure on what asks for slices, once while it stays the same. Returns how long it
  // waits for that; zero if it is reported.
  absl::Duration ReportFailure(const std::string& cluster, const absl::Status& failure);
  void ReportEnd(const std::string& cluster);
  void Forget(const std::string& cluster);
  void Record(const std::string& cluster, const absl::Status& result);

  const SliceCollection collection_;
  const std::shared_ptr<SliceSources> sources_;
  kube::WorkQueue& queue_;
  kube::EventRecorder recorder_;
  struct Failure {
    base::SteadyTime since;
    std::string reported;  // The message; "" before it is reported.
  };
  absl::Mutex mu_;
  // Both by cluster.
  std::map<std::string, Failure> failures_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, base::SteadyTime> unserved_since_ ABSL_GUARDED_BY(mu_);
};

}  // namespace controllers

#endif  // CONTROLLERS_SLICE_COLLECTION_SLICE_WATCHES_H_
