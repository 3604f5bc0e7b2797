// The write side of an informer: applies news to the store and reports them to handlers in the same
// order.
//
// News come from several threads (the watch, a list, writers). Each is applied to the store and put
// in a queue under one lock; whichever thread finds nobody dispatching empties the queue, without
// the lock, so that handlers may use the store and the informer freely and still see changes one at
// a time and in order.
#ifndef KUBE_CACHE_INTERNAL_CACHE_WRITER_H_
#define KUBE_CACHE_INTERNAL_CACHE_WRITER_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "kube/cache/informer.h"
#include "kube/cache/store.h"

namespace kube::internal {

// Thread-safe.
class CacheWriter {
 public:
  CacheWriter() = default;
  CacheWriter(const CacheWriter&) = delete;

  const Store& store() const { return store_; }
  Store& mutable_store() { return store_; }

  // Does what Informer::AddHandler promises. A handler that adds one gets the replay after it has
  // returned.
  int64_t AddHandler(EventHandler handler);
  void RemoveHandler(int64_t id);

  // The object is there in this state. `initial`: found by the first list.
  void Apply(ObjectPtr object, bool initial);
  // The object left at `last`'s resourceVersion (a DELETED event).
  void Delete(ObjectPtr last);
  // The incarnation `uid` (empty: the held one, whichever) was deleted for good.
  void DeleteForGood(const ObjectKey& key, absl::string_view uid);
  // A list: BeginList before it is asked for, ApplyListed for each object, EndList at its end. What
  // the list does not contain was deleted, unless it is newer than the list.
  struct Listing {
    Store::ListMark mark;
    std::string version;  // The list's.
    bool initial = false;
    absl::flat_hash_set<ObjectKey> seen;
  };
  Listing BeginList() const;
  void ApplyListed(ObjectPtr object, Listing& listing);
  void EndList(const Listing& listing);
  // The first list is complete; counts once its handlers have run.
  void MarkSynced();
  bool HasSynced() const;
  // Waits until synced or stopped (whether it is synced), the deadline or the stop.
  bool AwaitSynced(const base::Clock& clock, base::SteadyTime deadline,
                   const base::StopToken& stop) const;

  // Nothing is applied and no handler is called any more on return (but for the handler that calls
  // this).
  void Stop();

 private:
  // Something to report: a change (either side may be null) to all handlers that were there when it
  // happened, or an action of our own in its place of the order.
  struct Change {
    ObjectPtr before, after;
    bool initial = false;
    std::function<void()> action;
  };
  using HandlerPtr = std::shared_ptr<const EventHandler>;

  void Note(ObjectPtr before, ObjectPtr after, bool initial) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Replay(int64_t id, HandlerPtr handler, const std::vector<ObjectPtr>& objects);
  void Dispatch();
  void Notify(const Change& change);
  // Marks the first handler after `id` (or `id` itself) as being called and returns it; nullptr
  // when there is none. Finish ends the call.
  HandlerPtr BeginNext(int64_t& id);
  HandlerPtr Begin(int64_t id);
  void Finish();
  bool DispatchesHere() const ABSL_SHARED_LOCKS_REQUIRED(mu_) {
    return dispatcher_ == std::this_thread::get_id();
  }

  Store store_;
  mutable absl::Mutex mu_;
  std::map<int64_t, HandlerPtr> handlers_ ABSL_GUARDED_BY(mu_);
  std::deque<Change> changes_ ABSL_GUARDED_BY(mu_);
  int64_t next_id_ ABSL_GUARDED_BY(mu_) = 1;
  int64_t last_replayed_ ABSL_GUARDED_BY(mu_) = 0;
  std::thread::id dispatcher_ ABSL_GUARDED_BY(mu_);  // The thread that empties the queue.
  int64_t called_ ABSL_GUARDED_BY(mu_) = 0;          // The handler it is calling, or 0.
  bool synced_ ABSL_GUARDED_BY(mu_) = false;
  bool stopped_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace kube::internal

#endif  // KUBE_CACHE_INTERNAL_CACHE_WRITER_H_
