// Spaces the writes about one object: after each of them follows a pause that its writer chooses.
#ifndef WORKS_WRITE_PACE_H_
#define WORKS_WRITE_PACE_H_

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "kube/meta/names.h"

namespace works {

// Thread-safe. Losing this memory does no harm: a write is then made sooner.
class WritePace {
 public:
  // REQUIRES: `clock` outlives this object.
  explicit WritePace(const base::Clock& clock) : clock_(clock) {}

  // Returns how long a write about this object still has to wait; zero when it may be made.
  absl::Duration PauseFor(const kube::ObjectKey& object) const {
    const base::SteadyTime now = clock_.SteadyNow();
    absl::MutexLock lock(&mu_);
    const auto found = pause_ends_.find(object);
    if (found == pause_ends_.end() || found->second <= now) return absl::ZeroDuration();
    return found->second - now;
  }
  // Records a write after which the next one has to wait so long.
  void Written(const kube::ObjectKey& object, absl::Duration pause) {
    const base::SteadyTime now = clock_.SteadyNow();
    absl::MutexLock lock(&mu_);
    absl::erase_if(pause_ends_, [now](const auto& entry) { return entry.second <= now; });
    pause_ends_[object] = now + pause;
  }

 private:
  const base::Clock& clock_;
  mutable absl::Mutex mu_;
  absl::flat_hash_map<kube::ObjectKey, base::SteadyTime> pause_ends_ ABSL_GUARDED_BY(mu_);
};

}  // namespace works

#endif  // WORKS_WRITE_PACE_H_
