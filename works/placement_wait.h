// Whether a workload that no cluster has any more is about to get one again.
#ifndef WORKS_PLACEMENT_WAIT_H_
#define WORKS_PLACEMENT_WAIT_H_

#include <cstddef>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace works {

// When the last eviction task of a binding ends, the binding names no cluster until the scheduler
// has looked at it, which may choose the cluster in which the workload still runs. What runs there
// must not be deleted between the two. Upstream deletes it, if it is faster than the scheduler.
//
// The scheduler itself takes all clusters away when none fits any more, for example after an edit
// of the policy. Then nothing is waited for, as with upstream. The two look the same but for the
// task, which is gone by then, so it is remembered which bindings have had one. As long as that may
// not be known, after a start, a binding without a task counts as one whose task has just ended.
//
// Thread-safe.
class PlacementWait {
 public:
  // A scheduler that finds no cluster leaves no trace of its look, so the wait ends by itself, also
  // if the binding changes meanwhile. Only the end of an eviction task begins it again.
  static constexpr absl::Duration kPatience = absl::Seconds(10);
  // When more wait at once, all are forgotten.
  static constexpr size_t kMostBindings = 100'000;

  // How long after its start a loop that looks at every binding may not have seen them all.
  static constexpr absl::Duration kFirstLook = absl::Minutes(1);

  // `unknown` is how long after the first call it may not be known which bindings have had a task.
  // REQUIRES: `clock` outlives this object.
  PlacementWait(const base::Clock& clock, absl::Duration unknown)
      : clock_(clock), unknown_(unknown) {}

  // Returns for how long the binding still has to be left alone; zero when it has clusters, when
  // its scheduler has looked at its present generation, does not look at it (it never has, or it is
  // suspended), or has had its time.
  absl::Duration Remaining(const kube::Object& binding);
  void Forget(const kube::ObjectKey& binding);

 private:
  struct Since {
    size_t tasks;  // How many eviction tasks it had; the end of one begins the wait again.
    base::SteadyTime time;
  };
  const base::Clock& clock_;
  const absl::Duration unknown_;
  absl::Mutex mu_;
  base::SteadyTime first_call_ ABSL_GUARDED_BY(mu_) = base::SteadyTime::InfiniteFuture();
  absl::flat_hash_map<kube::ObjectKey, Since> waiting_ ABSL_GUARDED_BY(mu_);
};

}  // namespace works

#endif  // WORKS_PLACEMENT_WAIT_H_
