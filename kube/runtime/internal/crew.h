// Determines how many of a pool's threads are needed.
#ifndef KUBE_RUNTIME_INTERNAL_CREW_H_
#define KUBE_RUNTIME_INTERNAL_CREW_H_

#include <algorithm>

#include "absl/time/time.h"
#include "base/clock.h"

namespace kube::internal {

// Threads are started when much is due, and would stay. At the end of each period of five seconds
// surplus threads are let go: all but as many as were busy at once, at most, in that period, and
// one more, which keeps the time; two are always kept. Not thread-safe.
class Crew {
 public:
  static constexpr absl::Duration kWhile = absl::Seconds(5);

  int waiting() const { return waiting_; }  // Without the timekeeper.
  int leaving() const { return let_go_; }   // How many of them are let go.

  // Called before and after the wait of a thread that is not the timekeeper. Leave returns whether
  // the thread is let go.
  void Enter(base::SteadyTime now) {
    ++waiting_;
    if (waiting_ > 1 && look_ == base::SteadyTime::InfiniteFuture()) look_ = now + kWhile;
  }
  bool Leave() {
    --waiting_;
    if (let_go_ == 0) return false;
    --let_go_;
    return true;
  }
  // Records that this number of threads is busy.
  void Busy(int busy) { most_busy_ = std::max(most_busy_, busy); }

  // The time of the next Look; infinite while nobody can be let go.
  base::SteadyTime look() const { return look_; }
  // Lets go the threads that are not needed.
  void Look(base::SteadyTime now, int busy) {
    if (now < look_) return;
    let_go_ = std::clamp(waiting_ + busy - std::max(most_busy_, 1), 0, waiting_);
    look_ = waiting_ - let_go_ > 1 ? now + kWhile : base::SteadyTime::InfiniteFuture();
    most_busy_ = busy;
  }

 private:
  int waiting_ = 0;
  int let_go_ = 0;
  int most_busy_ = 0;
  base::SteadyTime look_ = base::SteadyTime::InfiniteFuture();
};

}  // namespace kube::internal

#endif  // KUBE_RUNTIME_INTERNAL_CREW_H_
