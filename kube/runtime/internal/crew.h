// Determines how many of a queue's workers are needed.
#ifndef KUBE_RUNTIME_INTERNAL_CREW_H_
#define KUBE_RUNTIME_INTERNAL_CREW_H_

#include <algorithm>

#include "absl/time/time.h"
#include "base/clock.h"

namespace kube::internal {

// Workers are started when many items wait, and would stay. At the end of each period of five
// seconds surplus workers are let go: all but as many as items were held at once, at most, in that
// period, and one that waits. Not thread-safe.
class Crew {
 public:
  static constexpr absl::Duration kWhile = absl::Seconds(5);

  int waiting() const { return waiting_; }  // Without the timekeeper.
  bool lets_go() const { return let_go_ > 0; }

  // Called before and after the wait of a worker that is not the timekeeper. Leave returns whether
  // the worker is let go.
  void Enter(bool may_end, base::SteadyTime now) {
    ++waiting_;
    if (look_ == base::SteadyTime::InfiniteFuture()) look_ = now + kWhile;
    if (may_end) ++may_end_;
  }
  bool Leave(bool may_end) {
    --waiting_;
    if (!may_end) return false;
    --may_end_;
    if (let_go_ == 0) return false;
    --let_go_;
    return true;
  }
  // Records that this number of items is held.
  void Hold(int held) { most_held_ = std::max(most_held_, held); }

  // The time of the next Look; infinite while nobody can be let go.
  base::SteadyTime look() const { return look_; }
  // Lets go the workers that are not needed; returns whether the timekeeper itself is let go.
  bool Look(base::SteadyTime now, int held, bool may_end) {
    if (now < look_) return false;
    look_ = waiting_ == 0 ? base::SteadyTime::InfiniteFuture() : now + kWhile;
    const int surplus = std::clamp(waiting_ + held - most_held_, 0, waiting_);
    let_go_ = std::min(surplus, may_end_);
    most_held_ = held;
    return may_end && surplus > let_go_;
  }

 private:
  int waiting_ = 0;
  int may_end_ = 0;  // How many of the waiting workers may end.
  int let_go_ = 0;
  int most_held_ = 0;
  base::SteadyTime look_ = base::SteadyTime::InfiniteFuture();
};

}  // namespace kube::internal

#endif  // KUBE_RUNTIME_INTERNAL_CREW_H_
