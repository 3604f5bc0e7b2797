// Answers gets, lists and watches of the proxy from a MultiClusterCache.
#ifndef SEARCH_PROXY_CACHE_READS_H_
#define SEARCH_PROXY_CACHE_READS_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/fair_share.h"
#include "base/metrics.h"
#include "kube/aggregation/authorizer.h"
#include "kube/aggregation/refusals.h"
#include "kube/aggregation/work_pool.h"
#include "search/cache/multi_cluster_cache.h"
#include "search/proxy/cached_reads.h"
#include "search/proxy/internal/event_texts.h"
#include "search/proxy/internal/unread_members.h"
#include "search/proxy/read_request.h"

namespace search {

// A read without a resourceVersion shows at least what the members had when it came; it waits for
// that for a while, and then answers with what there is, with a warning for each cluster that is
// missing or may be stale. Nothing else waits. Reads that may have to wait have threads of their
// own, so that a member that does not answer holds up nobody else; beyond a number of them the
// answer is 429. Thread-safe.
class CacheReads : public CachedReads {
 public:
  struct Options {
    MultiClusterCache& cache;
    const base::Clock& clock;
    // Returns the registered resource; nullopt when it is not registered any more.
    std::function<std::optional<kube::Resource>(const kube::Gvr& gvr)> resource;
    // Returns the clusters that the scope has the resource of.
    UnreadMembers::ClustersFn clusters;
    // Returns whether the Cluster is Ready: a first list of one that is not is not waited for.
    // Optional: all are.
    UnreadMembers::IsReadyFn is_ready = nullptr;
    // How long a read waits for caches that are not new enough.
    absl::Duration patience = absl::Seconds(3);
    // --authorize-cached-reads: asked for each read, as if it was one of the control plane. Null:
    // whoever may use the proxy or the view may read everything that is cached, as upstream has it.
    kube::aggregation::Authorizer* authorizer = nullptr;
    int waiting_threads = 64;
    int watch_threads = 2;     // Write the events of watches, and compress lists.
    size_t max_waiting = 256;  // Reads that wait for one of these threads; others get 429.
    // A list or watch refers to its objects until it has sent them. All these references together,
    // of which each user has a share (base::FairShare); a sixteenth at most counts for one.
    int64_t max_sent_bytes = 128 << 20;
    // A watch without timeoutSeconds ends after this to twice as long (--min-request-timeout).
    absl::Duration min_watch_timeout = absl::Minutes(30);
    // The columns and selectable fields of custom kinds. Optional.
    const CustomKinds* kinds = nullptr;
    // Counts the reads that are refused because too much is being done. Optional; outlives this
    // object.
    metrics::Registry* registry = nullptr;
  };
  // REQUIRES: what the options refer to outlives the object; the authorizer's questions have ended
  // before it does.
  explicit CacheReads(Options options);

  std::vector<std::string> ClustersOf(const kube::Gvr& gvr) override {
    return options_.clusters(gvr);
  }
  Holders HoldersOf(const kube::Gvr& gvr, const kube::ObjectKey& key) override;
  void Answer(kube::aggregation::ApiRequest request, const ReadTerms& terms,
              std::shared_ptr<base::HttpResponder> responder) override;

 private:
  using ResponderPtr = std::shared_ptr<base::HttpResponder>;
  // A read on its way, with how new its answer has to be.
  struct Reading {
    ReadRequest read;
    std::string verb;
    std::string owner;  // Whose share of the threads and queues it takes.
    Freshness::Need need = Freshness::kAny;
    bool complete = false;  // ReadTerms::complete.
    std::string version;    // A composite: what the caches have to have reached (kNotOlderThan).
    base::StopToken stop;
    ResponderPtr responder;
  };

  // Gives the read to a thread.
  absl::Status Begin(const kube::aggregation::ApiRequest& request, const ReadTerms& terms,
                     const ResponderPtr& responder);
  absl::Status Execute(const std::shared_ptr<const Reading>& reading);
  // Returns whether the answer may lack this; if not, the refusal has been sent.
  static bool MayLack(const std::vector<MissingCluster>& missing, const Reading& reading);
  // Returns whether the caches may have to be waited for.
  bool MayWait(const Reading& reading) const;
  absl::Status Get(const Reading& reading);
  // 503 when the resource has left the scope since the read began: its caches are being emptied.
  // To be asked after the caches have been read.
  absl::Status StillServed(const Reading& reading) const;
  // Answers a get that has found nothing. `unread`: what was unread before the caches were;
  // `behind`: which of them may not be as new as demanded.
  absl::Status NothingFound(const Reading& reading, std::vector<MissingCluster> unread,
                            const std::vector<MissingCluster>& behind);
  absl::Status List(const std::shared_ptr<const Reading>& reading);
  // Reads the list and begins to send it. `missing` is what was missing before.
  absl::Status SendList(const Reading& reading, std::vector<MissingCluster> missing);
  absl::Status Watch(const Reading& reading);
  // Waits as the request's resourceVersion demands. 504 when the caches have not seen the version
  // of a cluster that can be reached.
  absl::StatusOr<std::vector<MissingCluster>> Await(const Reading& reading);

  // Takes a share for the references to so many objects, which are kept while they are sent.
  absl::StatusOr<base::FairShare::Taken> TakeShare(const Reading& reading, size_t objects);
  // Returns what takes such shares for one watch, for one cluster after the other.
  std::function<std::shared_ptr<const void>(size_t objects)> ShareOfWatch(const Reading& reading);

  const Options options_;
  const UnreadMembers unread_;
  base::FairShare sent_;
  const kube::aggregation::Refusals refused_lists_, refused_sorted_, refused_waiting_,
      refused_reading_;
  const CustomKinds no_kinds_;
  EventTexts texts_;                  // Of events in other forms than the objects' own.
  kube::aggregation::WorkPool pool_;  // Writes the events of watches, and compresses lists.
  // Sorting takes so long that it has threads of its own. Those of the next ones give it work.
  kube::aggregation::WorkPool sorting_;
  kube::aggregation::WorkPool waiting_, reading_;
};

}  // namespace search

#endif  // SEARCH_PROXY_CACHE_READS_H_
