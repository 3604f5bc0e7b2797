// One watch of a resource over many clusters.
//
// The events of each cluster come in their order; those of different clusters in any. The reader
// takes them when it has room: nothing is kept for it but its places in the histories that all
// watches of a resource share. One that is so slow that events it has not taken have left the
// history ends with 410, as does one whose cluster went back to an earlier state.
//
// Each event carries a composite version at which a client may continue. Initial events come
// cluster by cluster, those of a cluster in the order of their versions, so that the composite only
// ever ascends, and is right after any of them: clusters that it does not name yet begin with their
// objects.
#ifndef SEARCH_CACHE_MERGED_WATCH_H_
#define SEARCH_CACHE_MERGED_WATCH_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "kube/cache/watch_cache.h"
#include "kube/meta/names.h"
#include "search/cache/cluster_choice.h"
#include "search/cache/composite_version.h"
#include "search/cache/object_filter.h"

namespace search {

struct WatchRequest {
  kube::Gvr gvr;
  std::string ns;  // "": all namespaces.
  ClusterChoice cluster;
  ObjectFilter filter;
  // The composite to continue from. Clusters that it does not name begin with their present objects
  // as ADDED events; so do all clusters for "" and "0".
  std::string resource_version;
  // sendInitialEvents: all clusters begin with their present objects, and the end of those is a
  // bookmark (if `bookmarks`).
  bool initial_events = false;
  bool bookmarks = false;  // allowWatchBookmarks
  // Is asked before the watch refers to so many objects, because a cluster begins with them. What
  // it returns is kept until they have been taken; null: there is no room for them now. Optional:
  // there is room for any number. It is called by one thread at a time, with locks held.
  std::function<std::shared_ptr<const void>(size_t objects)> hold = nullptr;
  absl::Duration timeout = absl::InfiniteDuration();
};

struct MergedEvent {
  enum class Type { kAdded, kModified, kDeleted, kBookmark };
  Type type = Type::kBookmark;
  std::string cluster;     // "" for a bookmark.
  kube::ObjectPtr object;  // An EncodedObject; null for a bookmark.
  std::string version;     // A composite.
  bool initial_events_end = false;
};

// Appends the object of an event as JSON, with its origin and the composite version. REQUIRES: the
// event is not a bookmark.
void AppendObject(const MergedEvent& event, std::string& out);

// Thread-safe; Take by one thread at a time.
class MergedWatch final : public kube::WatchCache::Observer,
                          public std::enable_shared_from_this<MergedWatch> {
 public:
  using CachePtr = std::shared_ptr<kube::WatchCache>;
  // Made by MultiClusterCache::Watch. REQUIRES: `clock` outlives the watch.
  MergedWatch(WatchRequest request, const base::Clock& clock, std::function<void()> on_ready);
  // Adds a cluster's cache. `joins`: it has joined while the watch was open; it begins when there
  // is room for its objects (WatchRequest::hold). kOutOfRange: the watch cannot continue there.
  // kResourceExhausted: there is no room for the objects of one that does not join.
  absl::Status Add(const std::string& cluster, const CachePtr& cache, bool joins);
  // All clusters of the beginning have been added.
  void Begin();

  const WatchRequest& request() const { return request_; }

  // Appends at most `limit` events, and none behind those whose objects take kBatchBytes of memory.
  // Returns false when the watch has ended: these are the last ones, and status() says why. Call it
  // again until it appends nothing; then on_ready announces more.
  bool Take(size_t limit, std::vector<MergedEvent>& events);
  static constexpr size_t kBatchBytes = 16 << 10;
  // OK: the time is over. kOutOfRange: the client has to list again.
  absl::Status status() const;
  // No call of on_ready comes afterwards, except one that is running.
  void Stop();

  void OnChange() override;
  // Calls on_ready if something is due now: a bookmark, the end, or another look for room.
  void OnTime();

 private:
  // What is left of one cluster's initial objects, and the place in its history.
  struct Source {
    CachePtr cache;
    bool waits = true;            // For the first list of its cache, or for room.
    bool counts = false;          // The bookmark at the end of the initial events waits for it.
    int64_t continue_after = -1;  // Where to continue; -1: with initial events.
    int narrowings = 0;           // WatchCache::NarrowingsAt of there.
    std::shared_ptr<const std::vector<kube::ObjectPtr>> initial;  // By version.
    std::shared_ptr<const void> held;                             // For them.
    size_t next_initial = 0;
    int64_t version_of_initial = -1;
    uint64_t position = 0;
  };
  using Events = std::vector<MergedEvent>;
  // What one call of Take appends.
  struct Batch {
    Events& events;
    size_t room;
    size_t bytes = 0;
    bool IsFull() const { return room == 0 || bytes >= kBatchBytes; }
    void Add(MergedEvent event);
  };

  // The closed cache of a cluster has been drained. Returns whether the cluster has joined again.
  bool Leave(const std::string& cluster) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // kResourceExhausted: it has not begun, because there is no room for its objects.
  absl::Status Start(Source& source) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Append events of one cluster; return whether it may have more at once.
  absl::StatusOr<bool> TakeFrom(const std::string& cluster, Source& source, Batch& batch)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void TakeInitial(const std::string& cluster, Source& source, Batch& batch)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // `resume_version`: where a client that has this event may continue.
  void AddEvent(const std::string& cluster, const kube::WatchCache::Event& event,
                int64_t resume_version, Batch& batch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool Selects(const kube::ObjectPtr& object) const;
  void AddBookmarks(Batch& batch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool InitialEventsAreOver() const ABSL_SHARED_LOCKS_REQUIRED(mu_);
  void CallReady() ABSL_LOCKS_EXCLUDED(mu_);

  const WatchRequest request_;
  const base::Clock& clock_;
  const base::SteadyTime end_;

  mutable absl::Mutex mu_;
  std::function<void()> on_ready_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, Source> sources_ ABSL_GUARDED_BY(mu_);
  // Of clusters that have left and joined again before the reader has taken the deletions.
  std::map<std::string, Source> successors_ ABSL_GUARDED_BY(mu_);
  std::string last_cluster_ ABSL_GUARDED_BY(mu_);  // Of which events were taken last.
  CompositeVersion version_ ABSL_GUARDED_BY(mu_);
  base::SteadyTime next_bookmark_ ABSL_GUARDED_BY(mu_);
  bool end_of_initial_is_due_ ABSL_GUARDED_BY(mu_) = false;
  bool began_ ABSL_GUARDED_BY(mu_) = false;
  bool waits_for_room_ ABSL_GUARDED_BY(mu_) = false;  // A source does.
  bool ready_ ABSL_GUARDED_BY(mu_) = false;  // on_ready has been called since the last Take.
  bool over_ ABSL_GUARDED_BY(mu_) = false;
  absl::Status status_ ABSL_GUARDED_BY(mu_);
};

}  // namespace search

#endif  // SEARCH_CACHE_MERGED_WATCH_H_
