// What readers and watchers of one resource of one server read: its objects in the order of their
// keys, the version at which they were so, and the changes that led there.
//
//   WatchCache cache(clock, {});
//   cache.Attach(informer);                       // REQUIRES: InformerOptions::keep_text.
//   WatchCache::Snapshot now = cache.Read({.ns = "default", .limit = 500}).value();
//   cache.ReadEvents(position, 100, events);      // What happened since.
//
// The contents change in steps: the changes between two calls of EventHandler::on_progress become
// visible together, with the version that they complete. So a reader always sees a state that the
// server had, even while the informer is listing.
//
// An informer may be replaced by another one of the same resource (another connection, other
// namespaces): the contents stay until the new one has listed, and the difference is a step.
#ifndef KUBE_CACHE_WATCH_CACHE_H_
#define KUBE_CACHE_WATCH_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "kube/cache/informer.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace kube {

// Thread-safe.
class WatchCache {
 public:
  struct Event {
    // An event without `before` is an addition, one without `after` a deletion. `after` of a
    // deletion is null, and `before` the last known state, with the version of the deletion if the
    // server sent one.
    ObjectPtr before, after;
    // The change had happened by this version: that of the object, or, where only a list or another
    // informer has shown the change, the version that was complete then.
    int64_t version = -1;
    // A watcher that has seen everything up to this event continues after this version. It is lower
    // than `version` while later events have the same version; such a watcher may see some events
    // twice.
    int64_t resume_version = -1;
    // True if even a reader that has seen everything up to `version` may have missed the event: the
    // contents have changed while the version stayed the same.
    bool belated = false;
    // The cache was closed or narrowed: the deletion is not one of the server's history, and nobody
    // has seen it, whatever version of the server he has reached elsewhere.
    bool by_close = false;

    // Returns whether a watcher that continues after this version has seen the event before.
    bool IsSeenAt(int64_t reached) const {
      return !by_close && (version < reached || (version == reached && !belated));
    }
  };

  struct Options {
    // Events are kept for so long, if they and the objects that only they hold need no more memory
    // than history_bytes. A hundred are kept however old they are.
    absl::Duration history = absl::Seconds(75);
    size_t history_bytes = 8 << 20;
    // Called for each change, one call at a time, after it has become visible; must not block.
    // Optional.
    std::function<void(const Event&)> on_event;
    // Called when the contents are complete, for the first time and after each replacement of the
    // informer; called after the events. Optional.
    std::function<void()> on_synced;
  };

  // Whoever waits for events; see AddObserver.
  class Observer {
   public:
    virtual ~Observer() = default;
    // Called on any thread, with no lock of the cache held; must not block. Many changes may be one
    // call.
    virtual void OnChange() = 0;
  };

  // REQUIRES: `clock` outlives this object.
  WatchCache(const base::Clock& clock, Options options);
  ~WatchCache();
  WatchCache(const WatchCache&) = delete;

  // Takes the contents from this informer from now on. REQUIRES: not called in a handler.
  void Attach(std::shared_ptr<Informer> informer);
  // Follows no informer any more; the contents stay. REQUIRES: not called in a handler.
  void Detach();
  // Detaches, and keeps of the contents only what is in these namespaces: the rest may not be read
  // any more. Those who watch get it as deleted (on_event does not), and no state of before can be
  // read. Whoever has read the state that is left and continues at its version says so by
  // NarrowingsAt. REQUIRES: not called in a handler; the first list has come.
  void KeepOnly(const std::set<std::string>& namespaces);
  // Returns how many narrowings (KeepOnly) the contents have gone through since they have been at
  // this version.
  int NarrowingsAt(int64_t version) const;
  // Detaches, and reports every object as deleted to watchers (not to on_event). Nothing happens
  // afterwards.
  void Close();

  bool HasSynced() const;
  bool closed() const;
  // Every change up to this version is visible; -1 before the first list.
  Progress progress() const;
  // Why the informer cannot list or watch at the moment; OK if it can. kUnavailable without one.
  absl::Status last_error() const;
  // Informer::CatchUp and Informer::AskState; without an informer `done` is called at once, with
  // kUnavailable.
  void CatchUp();
  void AskState(const ObjectKey& about, Informer::StateFn done);
  // Waits until progress() has reached `version`; returns whether it has.
  bool AwaitVersion(int64_t version, base::SteadyTime deadline) const;
  // Waits for the first list.
  bool AwaitSynced(base::SteadyTime deadline) const;

  size_t size() const;
  size_t history_bytes() const;
  // Returns nullptr when absent.
  ObjectPtr Find(const ObjectKey& key) const;

  // Objects are ordered as their keys "namespace/name" are in etcd. The place of an object that
  // follows `key` directly: {key.ns, key.name + '\0'}.
  struct Range {
    std::string ns;        // "": all namespaces.
    ObjectKey from;        // Objects before this place are left out.
    size_t limit = 0;      // 0: no limit.
    int64_t version = -1;  // The state at this version; -1: the present one.
  };
  struct Snapshot {
    // Never null. Readers of all objects at one version share one vector.
    std::shared_ptr<const std::vector<ObjectPtr>> objects;
    int64_t version = -1;
    // How many objects of the namespace follow those that the limit has let through.
    size_t remaining = 0;
    // Where ReadEvents continues; only of use for the present state.
    uint64_t position = 0;
  };
  // Copies pointers only. kOutOfRange: that version is older than the history, or has not been
  // reached.
  absl::StatusOr<Snapshot> Read(const Range& range) const;
  struct Count {
    size_t objects = 0;
    int64_t version = -1;
  };
  // Returns how many objects of a namespace ("": of all) there were at a version; below 0 stands
  // for the present one. Looks at the events since, not at the objects. Errors are those of Read.
  absl::StatusOr<Count> CountAt(absl::string_view ns, int64_t version) const;

  // Returns the position of the first event that a watcher at `version` has not seen; some of those
  // behind it may be seen (Event::IsSeenAt). kOutOfRange when the history does not go back so far,
  // or the server has gone back behind that version since. `narrowings`: NarrowingsAt when the
  // watcher has read that version.
  absl::StatusOr<uint64_t> PositionAfter(int64_t version, int narrowings = 0) const;
  // Appends at most `limit` events from `position` on, and moves it behind them. `complete` becomes
  // the version that is complete at the new position, if it is the end, else stays. kOutOfRange:
  // the reader is so slow that some of them are gone.
  absl::Status ReadEvents(uint64_t& position, size_t limit, std::vector<Event>& events,
                          int64_t& complete) const;
  // The observer is called when events have come, at the first list and at Close. It ends with the
  // object.
  void AddObserver(const std::weak_ptr<Observer>& observer);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kube

#endif  // KUBE_CACHE_WATCH_CACHE_H_
