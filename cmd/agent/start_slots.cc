#include "cmd/agent/start_slots.h"

#include <algorithm>

namespace cmd {

absl::Duration StartSlots::PauseFor(bool was_slow) const {
  // Then only a start that ends makes room, and it wakes one that waits.
  if (running_.size() >= kMost || (was_slow && slow_ >= kSlowAtOnce)) return kSlow;
  const base::SteadyTime now = clock_.SteadyNow();
  const auto quick = std::find_if(running_.begin(), running_.end(),
                                  [now](const Running& one) { return now - one.began < kSlow; });
  const auto counted = static_cast<size_t>(std::distance(quick, running_.end()));
  return counted < kAtOnce ? absl::ZeroDuration() : quick->began + kSlow - now;
}

StartSlots::Answer StartSlots::Enter(kube::Periodic& who, bool was_slow) {
  absl::MutexLock lock(&mu_);
  std::erase(waiting_, &who);
  const absl::Duration pause = PauseFor(was_slow);
  if (pause > absl::ZeroDuration()) {
    waiting_.push_back(&who);
    return {.pause = pause};
  }
  slow_ += was_slow ? 1 : 0;
  return {.may_start = true,
          .slot = running_.insert(running_.end(), {clock_.SteadyNow(), was_slow})};
}

bool StartSlots::Leave(Slot slot) {
  absl::MutexLock lock(&mu_);
  const bool is_slow = clock_.SteadyNow() - slot->began >= kSlow;
  slow_ -= slot->was_slow ? 1 : 0;
  running_.erase(slot);
  if (waiting_.empty()) return is_slow;
  waiting_.front()->Wake();
  waiting_.pop_front();
  return is_slow;
}

void StartSlots::Forget(const kube::Periodic& who) {
  absl::MutexLock lock(&mu_);
  std::erase(waiting_, &who);
}

}  // namespace cmd
