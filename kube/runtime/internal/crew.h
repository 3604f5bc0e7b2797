// How many workers a queue has, and how many of them it needs.
#ifndef KUBE_RUNTIME_INTERNAL_CREW_H_
#define KUBE_RUNTIME_INTERNAL_CREW_H_

#include <algorithm>

#include "absl/time/time.h"
#include "base/clock.h"

namespace kube::internal {

// Workers come when many items wait, and would stay. At the end of each while of five seconds those
// are let go that were not needed: as many as there are beyond the largest number of items that
// were held at once, and one that waits. Not thread-safe.
class Crew {
 public:
  static constexpr absl::Duration kWhile = absl::Seconds(5);

  int waiting() const { return waiting_; }  // The timekeeper apart.
  bool lets_go() const { return let_go_ > 0; }

  // Around the waiting of a worker that is not the timekeeper. Leave returns whether it is let go.
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
  // So many items are held.
  void Hold(int held) { most_held_ = std::max(most_held_, held); }

  // When the timekeeper has to look; infinite while there is nobody to let go.
  base::SteadyTime look() const { return look_; }
  // Lets go who is not needed; returns whether the timekeeper itself is let go.
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
  int may_end_ = 0;  // Of those that wait.
  int let_go_ = 0;
  int most_held_ = 0;
  base::SteadyTime look_ = base::SteadyTime::InfiniteFuture();
};

}  // namespace kube::internal

#endif  // KUBE_RUNTIME_INTERNAL_CREW_H_
