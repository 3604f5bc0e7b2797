// The cache of one resource of one cluster, and its connection.
#ifndef SEARCH_CACHE_INTERNAL_MEMBER_CACHE_H_
#define SEARCH_CACHE_INTERNAL_MEMBER_CACHE_H_

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "kube/cache/informer.h"
#include "kube/cache/watch_cache.h"
#include "kube/runtime/cluster_set.h"
#include "search/cache/list_answer.h"

namespace search::internal {

// Thread-safe for readers; Connect, KeepOnly, Refuse, BreakOff, EndPause, IsConnected,
// paused_until, broken_off and Close must be called one at a time.
class MemberCache {
 public:
  // REQUIRES: `clock` outlives the cache.
  MemberCache(std::string cluster, kube::Resource resource, const base::Clock& clock,
              kube::WatchCache::Options options);

  // Opens an informer of the cluster with these options, in the place of the present one. An error
  // stays in error() until the next call.
  void Connect(kube::ClusterSet& clusters, const kube::InformerOptions& options);
  // Ends the informer, and drops what is outside of these namespaces: see WatchCache::KeepOnly. Has
  // to be followed by Connect.
  void KeepOnly(const std::set<std::string>& namespaces);
  // Ends the informer, and has error() say why until the next Connect: why the cluster cannot be
  // reached, or else `why`.
  void Refuse(kube::ClusterSet& clusters, const absl::Status& why);
  // As Refuse, for one whose first list is under way and has no room. Until paused_until() there is
  // no point in another try: a kind that does not fit is read up to the limit each time, with
  // hundreds of requests to its member; so the pause doubles from ten seconds to an hour.
  void BreakOff(kube::ClusterSet& clusters, const absl::Status& why);
  base::SteadyTime paused_until() const { return paused_until_; }
  void EndPause();
  // Returns whether its first list is under way, and has not failed.
  bool IsBeingRead() const { return !cache_->HasSynced() && error().ok(); }
  // How often its first list was broken off.
  int broken_off() const { return broken_off_; }
  // Ends the informer; watchers see the objects as deleted.
  void Close();

  const std::string& cluster() const { return cluster_; }
  const kube::Resource& resource() const { return resource_; }
  const std::shared_ptr<kube::WatchCache>& cache() const { return cache_; }
  // Returns whether it is so young that its first list can have begun a moment ago.
  bool IsYoung() const { return clock_.SteadyNow() - created_ < kYoung; }
  // Returns whether its informer is one of the cluster's present connection.
  bool IsConnected(const kube::ClusterSet& clusters) const;
  // Why the cluster cannot be followed at the moment; OK if it is.
  absl::Status error() const;
  // The cluster as one that is missing from answers. It counts as being read until Connect has
  // failed or returned once. REQUIRES: it has not been listed yet.
  MissingCluster Missing() const;
  // Whether the cluster answered the list by saying that it does not serve the resource.
  bool IsUnserved() const { return absl::IsNotFound(cache_->last_error()); }

  // Returns whether a reader may wait for the cluster. A cluster that has kept one waiting in vain
  // counts as stale for kStaleTerm; then one reader at a time tries again.
  bool MayBeWaitedFor();
  void NoteInTime();
  void NoteLate();

 private:
  static constexpr absl::Duration kStaleTerm = absl::Seconds(5);
  static constexpr absl::Duration kYoung = absl::Seconds(10);
  static constexpr absl::Duration kFirstPause = absl::Seconds(10);
  static constexpr absl::Duration kLongestPause = absl::Hours(1);

  void RemoveInformer();
  bool WasTried() const;

  const std::string cluster_;
  const kube::Resource resource_;
  const std::shared_ptr<kube::WatchCache> cache_;
  const base::SteadyTime created_;
  int broken_off_ = 0;
  base::SteadyTime paused_until_ = base::SteadyTime::InfinitePast();
  absl::Duration next_pause_ = kFirstPause;
  std::shared_ptr<kube::MemberCluster> member_;  // Null until it has been connected once.
  const base::Clock& clock_;
  mutable absl::Mutex mu_;
  // Of a cluster that was late; until then nobody waits.
  std::optional<base::SteadyTime> stale_until_ ABSL_GUARDED_BY(mu_);
  absl::Status not_connected_ ABSL_GUARDED_BY(mu_);
  bool was_tried_ ABSL_GUARDED_BY(mu_) = false;  // Whether Connect has failed or returned.
};

using MemberCachePtr = std::shared_ptr<MemberCache>;

}  // namespace search::internal

#endif  // SEARCH_CACHE_INTERNAL_MEMBER_CACHE_H_
