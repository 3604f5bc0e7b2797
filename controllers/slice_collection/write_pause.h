// When a slice may be written again.
//
// A Service whose pods come and go changes its slices many times a second, and each write of a Work
// leads to further ones: in the control plane, and in every cluster that uses the Service. So the
// first change is written at once and what follows once a second, as it is by then. A failure that
// only a change from outside ends pauses longer.
//
// This is memory of one process; when it is lost, a slice is written once more, if it has changed.
#ifndef CONTROLLERS_SLICE_COLLECTION_WRITE_PAUSE_H_
#define CONTROLLERS_SLICE_COLLECTION_WRITE_PAUSE_H_

#include <algorithm>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "kube/runtime/reconciler.h"

namespace controllers {

inline constexpr absl::Duration kBetweenSliceWrites = absl::Seconds(1);
inline constexpr absl::Duration kAfterLastingFailure = absl::Minutes(5);

// Thread-safe.
class WritePause {
 public:
  // REQUIRES: `clock` outlives this object.
  explicit WritePause(const base::Clock& clock) : clock_(clock) {}

  // Returns how long the slice must wait; zero if it may be written now.
  absl::Duration Remaining(const kube::Request& slice) const {
    absl::MutexLock lock(&mu_);
    const auto found = until_.find(slice);
    if (found == until_.end()) return absl::ZeroDuration();
    return std::max(absl::ZeroDuration(), found->second - clock_.SteadyNow());
  }

  void Begin(const kube::Request& slice, absl::Duration pause) {
    const base::SteadyTime now = clock_.SteadyNow();
    absl::MutexLock lock(&mu_);
    if (now >= next_cleaning_) {
      next_cleaning_ = now + absl::Minutes(1);
      absl::erase_if(until_, [&](const auto& entry) { return entry.second <= now; });
    }
    until_.insert_or_assign(slice, now + pause);
  }

 private:
  const base::Clock& clock_;
  mutable absl::Mutex mu_;
  absl::flat_hash_map<kube::Request, base::SteadyTime> until_ ABSL_GUARDED_BY(mu_);
  base::SteadyTime next_cleaning_ ABSL_GUARDED_BY(mu_) = base::SteadyTime::InfinitePast();
};

}  // namespace controllers

#endif  // CONTROLLERS_SLICE_COLLECTION_WRITE_PAUSE_H_
