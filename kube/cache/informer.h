// Keeps a Store in line with one resource of one API server, and notifies handlers of changes.
//
// Guarantees: every handler sees one Add for each object and afterwards its Updates and its Delete,
// in order per object; after a break the difference to the server's state is reported (a missed
// delete is reported as OnDelete with the last known state). An object that a writer passes to
// Informer::Written is reported at once, like a watch event, and not reported again when the watch
// delivers it. The watch costs no thread; lists run on InformerThreads.
//
// A list or watch that fails is tried again after 0.8 s, later up to 30 s (jittered), for ever;
// meanwhile last_error() returns the reason. A kind that the server does not serve yet is such a
// failure.
#ifndef KUBE_CACHE_INFORMER_H_
#define KUBE_CACHE_INFORMER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "kube/cache/store.h"
#include "kube/client/client.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace base {
class ByteBudget;
}

namespace kube {

namespace internal {
class FailureLog;
class TaskPool;
}  // namespace internal

// Functions that are called on the transport's or a writer's thread, with no lock of the informer
// held. They must not block (they should only put keys in a queue). An object that was replaced by
// one with another uid is reported as a delete and an add.
struct EventHandler {
  std::function<void(const ObjectPtr& object, bool initial_list)> on_add;
  std::function<void(const ObjectPtr& before, const ObjectPtr& after)> on_update;
  std::function<void(const ObjectPtr& last)> on_delete;
  // Called after the calls for what it announces: every change up to this version has been
  // reported. It is called with each event of the watch, with bookmarks, and at the end of each
  // list. A lower version than the last one means that the server was set back to an earlier state.
  // Optional.
  std::function<void(int64_t version)> on_progress;
  // Called by Informer::Resync for each object. Nothing has changed, so what counts objects or
  // changes must not take it for an addition. Optional.
  std::function<void(const ObjectPtr& object)> on_resync;
};

// How far an informer has got.
struct Progress {
  // Its store shows at least every change up to this version; -1 before the first list.
  int64_t version = -1;
  // When the server last said so, by an event, a bookmark or a list.
  base::SteadyTime at = base::SteadyTime::InfinitePast();
};

struct InformerOptions {
  std::string label_selector;
  // The fields of each object that are read and stored (ListOptions::fields); objects from
  // Informer::Written may have more until the next event. Empty: all but metadata.managedFields.
  std::vector<std::string> fields;
  // Trims an object before it is stored. Optional.
  std::function<void(Object&)> transform;
  // Only objects of these namespaces are stored; empty: of all. One namespace is asked for alone;
  // for several of them the server sends all, since only one watch has one order of versions (see
  // "One watch for several namespaces" in docs/decisions.md). Resources without namespaces ignore
  // it.
  std::vector<std::string> namespaces;
  // Only the object of this name is asked for and stored; "": all are.
  std::string name;
  // The server is not asked for the kind: this process may not list it, or must not depend on it.
  // The store has what Informer::Written says, and has synced from the start.
  bool local = false;
  // Objects are EncodedObjects: their whole text is kept, and `fields` as values.
  bool keep_text = false;
  // With keep_text: an annotation that is left out of the text (EncodedObject::Make).
  std::string own_annotation;
  // With keep_text: returns an object that is held elsewhere anyway, null if there is none. Where
  // the first list brings one with an equal text, that one is stored, so that it is not there, and
  // charged, twice. Called on any thread. Optional.
  std::function<ObjectPtr(const ObjectKey& key)> held;
};

// Thread-safe.
class Informer {
 public:
  virtual ~Informer() = default;
  virtual const Resource& resource() const = 0;
  virtual const Store& store() const = 0;
  // Returns whether the store holds every object of the resource (no label selector, no choice of
  // namespaces or of a name, none left out, and the server is asked), so that an object which is
  // missing from a synced store does not exist.
  virtual bool HoldsAll() const { return true; }
  // Returns whether the server is not asked for the resource (InformerOptions::local).
  virtual bool IsLocal() const { return false; }
  // Returns whether objects that the store should hold are left out because there is no room for
  // them (InformerSet::SetBudget), or are there in a former state. Then nothing may be concluded
  // from the absence of an object: who would delete, make or count because of it asks the server,
  // or waits. Ask this before the store, which may be filled up in between. A deletion that a
  // handler is called for is one.
  virtual bool LeavesOut() const { return false; }
  virtual void AddIndex(const std::string& name, IndexFn fn) = 0;
  // Existing objects are replayed as initial adds before this returns (when called inside a handler
  // of this informer: after that handler). The returned id is for RemoveHandler; once that has
  // returned, no call of the handler is running (except one that RemoveHandler was called in) and
  // none follows.
  virtual int64_t AddHandler(EventHandler handler) = 0;
  virtual void RemoveHandler(int64_t id) = 0;
  // Calls on_resync of each handler for each object in the store, between two changes. Returns when
  // that is done, or when another thread is going to do it.
  virtual void Resync() {}
  // Returns whether the first list has been stored, as a whole, and its handlers called. What the
  // server has had since may be left out: see LeavesOut.
  virtual bool HasSynced() const = 0;
  // kDeadlineExceeded or kCancelled when it did not sync; the message contains the last error of a
  // list.
  virtual absl::Status WaitForSync(base::SteadyTime deadline,
                                   const base::StopToken& stop) const = 0;
  // Returns why the last list or watch failed, or the last request for CatchUp or AskState; OK if
  // they did not fail, or the server has accepted a later one, unless objects are left out
  // (LeavesOut): that is kResourceExhausted.
  virtual absl::Status last_error() const = 0;
  // Returns how far the store is complete. Changes by Written do not count.
  virtual Progress progress() const { return {}; }
  // Returns when the last page of a list arrived; the infinite past before the first one. It shows
  // those who wait for the first list that a large one makes progress.
  virtual base::SteadyTime last_page() const { return base::SteadyTime::InfinitePast(); }
  // Makes the informer ask the server for what it has not sent yet, so that progress() soon reaches
  // the server's present version even if the resource does not change: a list if there are few
  // objects, else a watch that the server ends within seconds, with a bookmark. Does not block;
  // nothing happens while a list or a retry is due anyway.
  virtual void CatchUp() {}
  // What the server has at a moment.
  struct ServerState {
    int64_t version = -1;
    // The version of the object that the question was about; 0 if the informer would not have it,
    // -1 if that is unknown.
    int64_t object = -1;
  };
  // Asks the server for its present version, and about one object (without a name: about none), by
  // one cheap read that it has to answer consistently, and calls `done` on a thread of the pool.
  // Calls that are made while a request is waiting to be sent share it; if they are about different
  // objects, nothing is known about any. When the informer ends, or has ended, `done` is called
  // with kUnavailable, on the thread that ends it or asks.
  using StateFn = std::function<void(const absl::StatusOr<ServerState>& state)>;
  virtual void AskState(const ObjectKey& /*about*/, StateFn /*done*/) {}
  // Stores the result of a write, so that the next read sees it.
  virtual void Written(const Object& object) = 0;
  // Records that our own call deleted the object with this `uid` for good. A successor of the same
  // name stays.
  virtual void WrittenDeleteOf(const ObjectKey& key, absl::string_view uid) = 0;
};

// The threads on which the lists, retries and questions of any number of InformerSets run. Each
// reads one page of a list at a time, so that they limit the concurrent pages of a process; between
// two pages other lists of the same server get their turn. Servers that do not answer delay the
// lists of others by some seconds at most, as long as there are fewer of them than twice
// `max_threads`. Watches are resumed whatever is being listed. Threads start on demand and end when
// idle.
class InformerThreads {
 public:
  // A page of 500 objects may need 10 MB while it is read; most threads wait on the network.
  // Pages that take more than two seconds have up to twice as many further threads.
  static constexpr int kDefault = 16;
  // REQUIRES: `clock` outlives the threads.
  explicit InformerThreads(const base::Clock& clock, int max_threads = kDefault);
  ~InformerThreads();

 private:
  friend class InformerSet;
  // Failures are logged together for each server, whichever set they belong to.
  std::unique_ptr<internal::FailureLog> failures_;
  std::unique_ptr<internal::TaskPool> pool_;
  // For what readers wait for, AskState and CatchUp: small requests to many servers at once.
  std::unique_ptr<internal::TaskPool> questions_;
  // For the starts of watches, which must not wait for lists.
  std::unique_ptr<internal::TaskPool> watches_;
};

// The informers of one API server: one per resource, shared by all users, started on first use.
class InformerSet {
 public:
  // `threads` may be shared with other sets; with nullptr the set has a few of its own. REQUIRES:
  // `client` and `clock` outlive the set.
  InformerSet(Client& client, const base::Clock& clock,
              std::shared_ptr<InformerThreads> threads = nullptr);
  ~InformerSet();  // Calls Stop.
  // Sets the options of informers of `r` that are created afterwards.
  void SetDefaultOptions(const Resource& r, InformerOptions options);
  void SetDefaultOptions(InformerOptions options);
  // Returns the informer of `r`; it is created and started if need be. It exists until Remove or
  // Stop; whoever holds the shared_ptr longer can still read its last contents.
  std::shared_ptr<Informer> Get(const Resource& r);
  // Returns nullptr when Get has not been called for it.
  std::shared_ptr<Informer> Find(const Resource& r) const;
  // Ends the informer's watch and forgets it; afterwards none of its handlers is called. Must not
  // be called in a handler.
  void Remove(const Resource& r);
  std::vector<std::shared_ptr<Informer>> All() const;
  // Calls Resync of all informers.
  void Resync() const;
  // Charges what the objects of informers take that are created afterwards, which may share the
  // budget with other sets. New objects are stored as long as what has been charged is less than
  // fifteen sixteenths of the budget, or of this `share` of it, above 0 and at most 1; the rest is
  // for those that are held and grow. An object without room is left out: Informer::LeavesOut. The
  // kind is listed again after some seconds, later every few minutes, until nothing is left out. A
  // kind whose first list does not fit gives back what it has taken (handlers see the objects
  // deleted), does not sync, and tries again at the same times. last_error() says so, and
  // `on_exceeded` is called each time that a list leaves something out, or the watch does for the
  // first time since. `on_exceeded` must not block.
  void SetBudget(std::shared_ptr<base::ByteBudget> budget, std::function<void()> on_exceeded,
                 double share = 1);
  // Ends all watches; afterwards no handler is called. Must not be called in a handler.
  void Stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kube

#endif  // KUBE_CACHE_INFORMER_H_
