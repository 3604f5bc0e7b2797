// Decides when intermediate news of a workload that comes up is written into a status.
//
// Such news is held for kProgressHold: mostly the workload is up by then and one write says so.
// What takes longer is written, but only so many of these writes a second: when thousands of
// workloads come up together on a machine that is busy with them, each step of each would cost a
// write that is outdated soon, and the writes would make everything slower still. News that was
// refused asks again, and is written after kLongestProgressHold whatever the rate.
#ifndef WORKS_PROGRESS_GATE_H_
#define WORKS_PROGRESS_GATE_H_

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"

namespace works {

// A member's Deployment takes 0.3-1 s from its creation to ready replicas; intermediate steps
// inside this time are not worth a write each.
inline constexpr absl::Duration kProgressHold = absl::Seconds(2);
inline constexpr absl::Duration kLongestProgressHold = absl::Seconds(30);
// Writes of intermediate news: so many a second, and so many at once after a quiet time.
inline constexpr int kProgressWritesPerSecond = 20;
inline constexpr int kProgressBurst = 50;

// Thread-safe.
class ProgressGate {
 public:
  // REQUIRES: the clock outlives the gate.
  explicit ProgressGate(const base::Clock& clock) : clock_(clock) {}

  // How long news that is unwritten since `since` still waits before this is asked again; zero:
  // write it now, which counts as one write.
  absl::Duration HoldFor(base::SteadyTime since);

 private:
  const base::Clock& clock_;
  absl::Mutex mu_;
  // The time at which all writes so far would have been made at the even rate.
  base::SteadyTime paid_until_ ABSL_GUARDED_BY(mu_) = base::SteadyTime::InfinitePast();
};

}  // namespace works

#endif  // WORKS_PROGRESS_GATE_H_
