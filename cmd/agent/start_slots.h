// How many agents of a process start at once.
#ifndef CMD_AGENT_START_SLOTS_H_
#define CMD_AGENT_START_SLOTS_H_

#include <deque>
#include <list>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "kube/runtime/periodic.h"

namespace cmd {

// A start reads and writes much, and a thousand at once would take memory and time from each other.
// So kAtOnce go ahead and the others wait, each without a thread. A start that takes longer than
// kSlow waits for a server rather than for this machine, and does not count: clusters that do not
// answer hold up nobody for long. But each holds a thread, so that no more than kMost are under way
// in any case, and of those whose last start has failed so no more than kSlowAtOnce. Thread-safe.
class StartSlots {
 public:
  static constexpr size_t kAtOnce = 16;
  static constexpr size_t kSlowAtOnce = 32;
  static constexpr size_t kMost = 256;
  static constexpr absl::Duration kSlow = absl::Seconds(3);

  // REQUIRES: `clock` outlives the object.
  explicit StartSlots(const base::Clock& clock) : clock_(clock) {}

  struct Running {
    base::SteadyTime began;
    bool was_slow;
  };
  using Slot = std::list<Running>::iterator;
  struct Answer {
    bool may_start = false;
    Slot slot = {};        // With may_start, for Leave.
    absl::Duration pause;  // Otherwise: when to ask again, unless `who` is woken before.
  };
  // `was_slow`: what Leave has returned of the last start, which has failed.
  Answer Enter(kube::Periodic& who, bool was_slow = false);
  // Returns whether the start has taken longer than kSlow.
  bool Leave(Slot slot);
  // `who` does not wait any more, and is not woken afterwards.
  void Forget(const kube::Periodic& who);

 private:
  // Returns how long it is until there may be room; zero if there is some.
  absl::Duration PauseFor(bool was_slow) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const base::Clock& clock_;
  absl::Mutex mu_;
  std::list<Running> running_ ABSL_GUARDED_BY(mu_);  // In the order in which they began.
  size_t slow_ ABSL_GUARDED_BY(mu_) = 0;             // Those with was_slow.
  std::deque<kube::Periodic*> waiting_ ABSL_GUARDED_BY(mu_);
};

}  // namespace cmd

#endif  // CMD_AGENT_START_SLOTS_H_
