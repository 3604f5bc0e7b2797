// What the events of an informer put into a queue, and which of them count.
#ifndef KUBE_RUNTIME_ENQUEUE_H_
#define KUBE_RUNTIME_ENQUEUE_H_

#include <functional>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "kube/cache/informer.h"
#include "kube/meta/object.h"
#include "kube/runtime/reconciler.h"
#include "kube/runtime/work_queue.h"

namespace kube {

// Decide which events count. An empty function accepts all.
struct Predicates {
  std::function<bool(const Object&)> add;
  std::function<bool(const Object& before, const Object& after)> update;
  std::function<bool(const Object& last)> remove;
};
// Returns whether the generation changed (setting a deletionTimestamp changes it too), or the spec
// did: a server that was restored from a backup may give the same generation to another spec.
bool GenerationChanged(const Object& before, const Object& after);
// Returns whether the generation changed, or a label or an annotation: somebody may have changed
// what a loop wrote. The status is not of that.
bool ContentChanged(const Object& before, const Object& after);
bool ResourceVersionChanged(const Object& before, const Object& after);
bool Never(const Object&);
bool NeverUpdate(const Object& before, const Object& after);

// Indexes objects by the value of a label; those without it (or with "") are left out.
IndexFn IndexByLabel(absl::string_view label);

// Returns the requests that an event of the object leads to.
using MapFn = std::function<std::vector<Request>(const Object&)>;
// Returns the requests that an update leads to, for loops that have to compare its two states.
using UpdateMapFn = std::function<std::vector<Request>(const Object& before, const Object& after)>;

// Determines what the events of an informer put into a queue.
struct Enqueue {
  Predicates when;
  MapFn map;  // Empty stands for the object's own key.
  // Empty stands for `map` of both states of the object.
  UpdateMapFn map_update;
  // A resync (Informer::Resync) hands each object to `when.add` and `map` and queues it like one of
  // the first list; unless this is false, for loops whose pace is their own.
  bool resync = true;
  // How long a request waits in the queue; further requests for the same key in that time have no
  // effect.
  absl::Duration delay;
  // How long requests for an object that is gone wait besides, unless their key is failing, and so
  // may be waiting for the end of the object. Empty stands for not at all.
  std::function<absl::Duration(const Object& last)> removal_delay;
};

// Returns the handler that Watches attaches; for sources that come and go (members' informers).
// REQUIRES: the queue outlives the handler's registration.
EventHandler EnqueueHandler(WorkQueue& queue, Enqueue enqueue);

}  // namespace kube

#endif  // KUBE_RUNTIME_ENQUEUE_H_
