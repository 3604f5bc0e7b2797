// Spaces the writes of a binding's status by the number of its clusters.
//
// A patch carries the whole list status.aggregatedStatus, and so do its answer and the event that
// every watcher gets. Without a pause, each change in one of M clusters would cost M items. With a
// pause in proportion to the items, a binding costs a bounded number of items a second, however
// many clusters it has and however often they change.
#ifndef CONTROLLERS_BINDINGSTATUS_WRITE_PACE_H_
#define CONTROLLERS_BINDINGSTATUS_WRITE_PACE_H_

#include <cstddef>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "kube/meta/names.h"

namespace controllers {

// The pause after a write for each item that it carried; a hundred clusters mean 1 s.
inline constexpr absl::Duration kPausePerCluster = absl::Milliseconds(10);
inline constexpr absl::Duration kLongestPause = absl::Seconds(30);

// Thread-safe. Losing this memory does no harm: a write is then made sooner.
class WritePace {
 public:
  // REQUIRES: `clock` outlives this object.
  explicit WritePace(const base::Clock& clock) : clock_(clock) {}

  // Returns how long a write for this binding still has to wait; zero when it may be made.
  absl::Duration PauseFor(const kube::ObjectKey& binding) const;
  // Records that a status with so many clusters has been written.
  void Written(const kube::ObjectKey& binding, size_t clusters);

 private:
  const base::Clock& clock_;
  mutable absl::Mutex mu_;
  absl::flat_hash_map<kube::ObjectKey, base::SteadyTime> pause_ends_ ABSL_GUARDED_BY(mu_);
};

}  // namespace controllers

#endif  // CONTROLLERS_BINDINGSTATUS_WRITE_PACE_H_
