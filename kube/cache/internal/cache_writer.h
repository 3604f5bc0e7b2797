// The write side of an informer: applies changes to the store and reports them to handlers in the
// same order.
//
// Changes come from several threads (the watch, a list, writers). Each is applied to the store and
// put in a queue under one lock, and delivered without it (base/ordered_delivery.h), so that
// handlers may use the store and the informer freely and still see changes one at a time and in
// order.
#ifndef KUBE_CACHE_INTERNAL_CACHE_WRITER_H_
#define KUBE_CACHE_INTERNAL_CACHE_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "base/byte_budget.h"
#include "base/clock.h"
#include "base/ordered_delivery.h"
#include "kube/cache/informer.h"
#include "kube/cache/store.h"

namespace kube::internal {

// Thread-safe.
class CacheWriter {
 public:
  // See Store.
  explicit CacheWriter(std::shared_ptr<base::ByteBudget> budget = nullptr)
      : store_(std::move(budget)) {}
  CacheWriter(const CacheWriter&) = delete;

  const Store& store() const { return store_; }
  Store& mutable_store() { return store_; }

  // Has the contract of Informer::AddHandler. A handler that adds another one gets the replay after
  // it has returned.
  int64_t AddHandler(EventHandler handler);
  void RemoveHandler(int64_t id);
  // Has the contract of Informer::Resync.
  void Resync();

  // Stores this state of the object. `reached` is how far the watch is complete with this event;
  // its version is -1 when the state is not one of the watch's.
  void Apply(ObjectPtr object, const Progress& reached = {});
  // Removes the object, which left at the resourceVersion of `last` (a DELETED event).
  void Delete(ObjectPtr last, const Progress& reached = {});
  // The watch is complete up to here, without a change that concerns the store.
  void Reach(const Progress& reached);
  Progress progress() const;
  // Removes the object with this `uid` (empty: the held one, whichever it is), which was deleted
  // for good.
  void DeleteForGood(const ObjectKey& key, absl::string_view uid);
  // Applies a list: call BeginList before it is requested, ApplyListed for each object, EndList at
  // its end. Objects that are missing from the list were deleted, unless they are newer than the
  // list. An object that is in the list and is not to be stored is noted by NoteListed.
  struct Listing {
    Store::ListMark mark;
    std::string version;  // The resourceVersion of the list.
    // That of its last page, which is a later one if the list has outlived its continue token; -1
    // if there is no number. Then a watch from `version` has to run beside the list.
    int64_t latest = -1;
    bool initial = false;
    // Hashes of the keys, because a server chooses how many there are, and how long. What two keys
    // with one hash would do is to keep an object until the next list.
    absl::flat_hash_set<size_t> seen;
  };
  Listing BeginList() const;
  // Has no progress be reported until a list has ended: a watch runs beside one without which the
  // store is not what the server had.
  void HoldProgress();
  void ApplyListed(ObjectPtr object, Listing& listing);
  static void NoteListed(const ObjectKey& key, Listing& listing);
  // Returns how many objects were missing from the list, and have been removed.
  size_t EndList(const Listing& listing, base::SteadyTime now);
  // Reports all objects as deleted and forgets them, as if they had never been listed. REQUIRES: no
  // list has ended.
  void DropAll();
  // Marks the first list as complete; it counts once its handlers have run.
  void MarkSynced();
  bool HasSynced() const;
  // Waits until the first list is complete, Stop, the deadline or `stop`; returns whether it is
  // complete.
  bool AwaitSynced(const base::Clock& clock, base::SteadyTime deadline,
                   const base::StopToken& stop) const;
  // Calls `call` once when the first list is complete, or at Stop; at once if that has been.
  void CallWhenSettled(std::function<void()> call);

  // After this nothing is applied and no handler is called any more (except the handler that calls
  // this).
  void Stop();

 private:
  // A change to report to all handlers that existed when it happened (either side may be null), the
  // version that is complete after the changes before it, or an action at its place in the order.
  struct Change {
    ObjectPtr before, after;
    bool initial = false;
    int64_t reached = -1;
    std::function<void()> action;
  };

  void Note(ObjectPtr before, ObjectPtr after, bool initial) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void NoteProgress(const Progress& reached) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns the version whose state the store shows, -1 while it shows a mixture.
  int64_t ReportedProgress() const ABSL_SHARED_LOCKS_REQUIRED(mu_) {
    return progress_.version >= mixed_until_ ? progress_.version : -1;
  }
  // Returns whether the last list has shown the event of the watch that reached this.
  bool WasListed(const Progress& reached) const ABSL_SHARED_LOCKS_REQUIRED(mu_) {
    return reached.version >= 0 && reached.version <= listed_;
  }
  // What a new handler is given.
  struct Contents {
    std::vector<ObjectPtr> objects;
    int64_t reached = -1;
  };
  void Replay(int64_t id, const Contents& contents);
  void CallOnResync(const std::vector<ObjectPtr>& objects);
  void Dispatch();
  void Notify(const Change& change);
  // Sets `flag`, which says that the first list is complete or that this has stopped, and makes the
  // calls of CallWhenSettled.
  void Settle(bool CacheWriter::*flag);

  Store store_;
  base::OrderedDelivery<Change, EventHandler> delivery_;  // Items are queued with mu_ held.
  mutable absl::Mutex mu_;
  int64_t last_replayed_ ABSL_GUARDED_BY(mu_) = 0;
  Progress progress_ ABSL_GUARDED_BY(mu_);
  // The version of a list of which the store has a part, or of the last one; -1 before.
  int64_t mixed_until_ ABSL_GUARDED_BY(mu_) = -1;
  int64_t listed_ ABSL_GUARDED_BY(mu_) = -1;  // The version of the last complete list.
  // True once a handler has asked for progress; until then none is queued.
  bool reports_progress_ ABSL_GUARDED_BY(mu_) = false;
  bool synced_ ABSL_GUARDED_BY(mu_) = false;
  bool stopped_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::function<void()>> asked_ ABSL_GUARDED_BY(mu_);  // See CallWhenSettled.
};

}  // namespace kube::internal

#endif  // KUBE_CACHE_INTERNAL_CACHE_WRITER_H_
