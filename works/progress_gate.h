// Decides when intermediate changes of a workload that is starting are written into a status.
//
// Such a change is held for kProgressHold: mostly the workload is up by then and one write says so.
// Changes of a workload that takes longer are written, but at most kProgressWritesPerSecond such
// writes are made a second: when thousands of workloads start together on a machine that is busy
// with them, a write for each step of each would soon be outdated and slow everything down further.
// The caller asks again for a change that was refused; after kLongestProgressHold it is written
// whatever the rate.
#ifndef WORKS_PROGRESS_GATE_H_
#define WORKS_PROGRESS_GATE_H_

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/token_bucket.h"

namespace works {

// A member's Deployment takes 0.3-1 s from its creation to ready replicas; intermediate steps
// inside this time are not worth a write each.
inline constexpr absl::Duration kProgressHold = absl::Seconds(2);
// A change that has waited so long is written whatever the rate.
inline constexpr absl::Duration kLongestProgressHold = absl::Seconds(30);
// A rate and a burst for the writes of intermediate changes.
inline constexpr int kProgressWritesPerSecond = 20;
inline constexpr int kProgressBurst = 50;

// Thread-safe.
class ProgressGate {
 public:
  // REQUIRES: the clock outlives the gate.
  explicit ProgressGate(const base::Clock& clock) : clock_(clock) {}

  // Returns how long a change that has been unwritten since `since` must wait before the caller
  // asks again. Zero means: write it now; that counts as one write.
  absl::Duration HoldFor(base::SteadyTime since);
  // As HoldFor, but counts nothing: whoever is told to wait need not find out what to write.
  absl::Duration Look(base::SteadyTime since) const;

 private:
  absl::Duration HoldAt(base::SteadyTime now, base::SteadyTime since) const
      ABSL_SHARED_LOCKS_REQUIRED(mu_);

  const base::Clock& clock_;
  mutable absl::Mutex mu_;
  // News that may not wait any longer is written all the same, and runs it into debt.
  base::TokenBucket rate_ ABSL_GUARDED_BY(mu_){kProgressWritesPerSecond, kProgressBurst};
};

}  // namespace works

#endif  // WORKS_PROGRESS_GATE_H_
