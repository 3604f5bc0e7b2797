// The events of one step of a WatchCache, which leads from one complete version to the next.
//
// Most steps have one event: the watch has delivered it, and its version is the one that is
// complete. A list shows more at once: what has changed between two versions. An addition or update
// that it reveals has the version of its object. When a deletion was, nobody knows, nor when an old
// object has come into the chosen namespaces; all that is certain is that it had happened by the
// end of the step. So these come first, and a watcher that has seen some of them may only continue
// where the step begins. The others follow in the order of their versions: whoever has seen an
// object of one of those versions has been given the deletions, too. A watcher that continues at
// any version within the step (another process may have given it) is owed the deletions.
//
// If the step ends where it began, because other namespaces are wanted now, even a watcher that
// continues at this very version is owed all of its events.
#ifndef KUBE_CACHE_INTERNAL_CACHE_STEP_H_
#define KUBE_CACHE_INTERNAL_CACHE_STEP_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "kube/cache/internal/ordered_objects.h"
#include "kube/cache/watch_cache.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace kube::internal {

// The last known change of an object since the last step.
struct PendingChange {
  ObjectPtr last;  // Of a deletion: the last known state.
  bool deleted = false;
};
using PendingChanges = absl::flat_hash_map<ObjectKey, PendingChange>;

struct StepVersions {
  int64_t from = -1;  // What was complete before the step.
  int64_t to = -1;    // What is complete after it.
};

// Returns the state after the event, or before it if it is a deletion.
inline const ObjectPtr& StateOf(const WatchCache::Event& event) {
  return event.after == nullptr ? event.before : event.after;
}

// Returns the events that lead from `objects` to what is pending, in the order in which watchers
// are given them.
std::vector<WatchCache::Event> StepEvents(const OrderedObjects& objects,
                                          const PendingChanges& pending,
                                          const StepVersions& versions);

// Returns whether what is pending shows that the server went back to an earlier state, although the
// versions of its lists go on (as etcd's manual recommends for a restore: --bump-revision): an
// object is now of a version that was complete before the step, and was not so then. REQUIRES: it
// comes from the informer that the contents come from, since another one may choose more objects.
bool ShowsEarlierState(const OrderedObjects& objects, const PendingChanges& pending, int64_t from);

}  // namespace kube::internal

#endif  // KUBE_CACHE_INTERNAL_CACHE_STEP_H_
