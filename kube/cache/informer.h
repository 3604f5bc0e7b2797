// Keeps a Store true to one resource of one API server, and notifies handlers of changes.
//
// Guarantees: every handler sees one Add for each object and afterwards its Updates and its Delete,
// in order per object; after a break the difference to the server's state is reported (a missed
// delete comes as OnDelete with the last known state). What a writer puts in through
// Informer::Written is reported like a watch event, at once, and not reported again when the watch
// delivers it. The watch costs no thread; lists run on
// InformerThreads.
//
// A list or watch that fails is tried again after 0.8 s, later up to 30 s (jittered), for ever;
// last_error() says why meanwhile. A kind the server does not have yet is such a failure.
#ifndef KUBE_CACHE_INFORMER_H_
#define KUBE_CACHE_INFORMER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "kube/cache/store.h"
#include "kube/client/client.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace kube {

namespace internal {
class FailureLog;
class TaskPool;
}  // namespace internal

// Called on the transport's or a writer's thread with no lock of the informer's held; must not
// block (put a key in a queue, no more). An object replaced by one with another uid is reported as
// a delete and an add.
struct EventHandler {
  std::function<void(const ObjectPtr& object, bool initial_list)> on_add;
  std::function<void(const ObjectPtr& before, const ObjectPtr& after)> on_update;
  std::function<void(const ObjectPtr& last)> on_delete;
};

struct InformerOptions {
  std::string label_selector;
  // Which fields of each object are read and stored (ListOptions::fields); of what
  // Informer::Written puts in, more may be there until the next event. Empty: all but
  // metadata.managedFields.
  std::vector<std::string> fields;
  // Trims an object before it is stored. Optional.
  std::function<void(Object&)> transform;
};

// Thread-safe.
class Informer {
 public:
  virtual ~Informer() = default;
  virtual const Resource& resource() const = 0;
  virtual const Store& store() const = 0;
  // Returns whether the store is to hold every object of the resource (there is no label selector),
  // so that an object absent from a synced store does not exist.
  virtual bool HoldsAll() const { return true; }
  virtual void AddIndex(const std::string& name, IndexFn fn) = 0;
  // Existing objects are replayed as initial adds before this returns (when called from inside a
  // handler of this informer: after that handler). The id is for RemoveHandler, after which no call
  // of the handler is running (but for the one RemoveHandler is called from) or will come.
  virtual int64_t AddHandler(EventHandler handler) = 0;
  virtual void RemoveHandler(int64_t id) = 0;
  // The first list has been stored (and its handlers called).
  virtual bool HasSynced() const = 0;
  // kDeadlineExceeded or kCancelled when it did not sync; the message carries the last list error.
  virtual absl::Status WaitForSync(base::SteadyTime deadline,
                                   const base::StopToken& stop) const = 0;
  // Why the last list or watch failed; OK while all is well.
  virtual absl::Status last_error() const = 0;
  // The result of a write, so that the next read sees it.
  virtual void Written(const Object& object) = 0;
  // The object `uid` held under `key` was deleted for good by our own call. A successor of the same
  // name stays.
  virtual void WrittenDeleteOf(const ObjectKey& key, absl::string_view uid) = 0;
};

// The threads on which the lists and retries of any number of InformerSets run, each blocked by at
// most one page of a list: the bound on concurrent pages of a process. Servers that do not answer
// hold up only their own lists. Threads start on demand and end when idle.
class InformerThreads {
 public:
  // A page of 500 objects may need 10 MB while it is read; most threads wait on the network.
  static constexpr int kDefault = 16;
  // REQUIRES: clock outlives the threads.
  explicit InformerThreads(const base::Clock& clock, int max_threads = kDefault);
  ~InformerThreads();

 private:
  friend class InformerSet;
  // What fails in them is logged together for each server, whichever sets it belongs to.
  std::unique_ptr<internal::FailureLog> failures_;
  std::unique_ptr<internal::TaskPool> pool_;
};

// The informers of one API server: one per resource, shared by all users, started on first use.
class InformerSet {
 public:
  // `threads` are shared with other sets; nullptr: a few of its own. REQUIRES: client and clock
  // outlive the set.
  InformerSet(Client& client, const base::Clock& clock,
              std::shared_ptr<InformerThreads> threads = nullptr);
  ~InformerSet();  // Stops.
  // Applies to informers created afterwards.
  void SetDefaultOptions(const Resource& r, InformerOptions options);
  void SetDefaultOptions(InformerOptions options);
  // The informer of `r`, created and started if need be. It stays until Remove or Stop; a
  // shared_ptr held longer keeps its last contents readable.
  std::shared_ptr<Informer> Get(const Resource& r);
  // nullptr when nobody asked for it yet.
  std::shared_ptr<Informer> Find(const Resource& r) const;
  // Ends its watch and forgets it; afterwards none of its handlers is called. Not from a handler.
  void Remove(const Resource& r);
  std::vector<std::shared_ptr<Informer>> All() const;
  // Ends all watches; afterwards no handler is called. Not from a handler.
  void Stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kube

#endif  // KUBE_CACHE_INFORMER_H_
