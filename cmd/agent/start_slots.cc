#include "cmd/agent/start_slots.h"

#include <algorithm>

namespace cmd {

StartSlots::Answer StartSlots::Enter(kube::Periodic& who) {
  absl::MutexLock lock(&mu_);
  std::erase(waiting_, &who);
  const base::SteadyTime now = clock_.SteadyNow();
  const auto quick = std::find_if(running_.begin(), running_.end(),
                                  [now](base::SteadyTime began) { return now - began < kSlow; });
  const auto counted = static_cast<size_t>(std::distance(quick, running_.end()));
  if (counted < kAtOnce) return {.may_start = true, .slot = running_.insert(running_.end(), now)};
  waiting_.push_back(&who);
  return {.pause = *quick + kSlow - now};
}

void StartSlots::Leave(Slot slot) {
  absl::MutexLock lock(&mu_);
  running_.erase(slot);
  if (waiting_.empty()) return;
  waiting_.front()->Wake();
  waiting_.pop_front();
}

void StartSlots::Forget(const kube::Periodic& who) {
  absl::MutexLock lock(&mu_);
  std::erase(waiting_, &who);
}

}  // namespace cmd
