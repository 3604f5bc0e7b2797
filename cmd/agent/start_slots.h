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
// answer hold up nobody for long. Thread-safe.
class StartSlots {
 public:
  static constexpr size_t kAtOnce = 16;
  static constexpr absl::Duration kSlow = absl::Seconds(3);

  // REQUIRES: `clock` outlives the object.
  explicit StartSlots(const base::Clock& clock) : clock_(clock) {}

  using Slot = std::list<base::SteadyTime>::iterator;
  struct Answer {
    bool may_start = false;
    Slot slot = {};        // With may_start, for Leave.
    absl::Duration pause;  // Otherwise: when to ask again, unless `who` is woken before.
  };
  Answer Enter(kube::Periodic& who);
  void Leave(Slot slot);
  // `who` does not wait any more, and is not woken afterwards.
  void Forget(const kube::Periodic& who);

 private:
  const base::Clock& clock_;
  absl::Mutex mu_;
  std::list<base::SteadyTime> running_ ABSL_GUARDED_BY(mu_);  // When each began, in order.
  std::deque<kube::Periodic*> waiting_ ABSL_GUARDED_BY(mu_);
};

}  // namespace cmd

#endif  // CMD_AGENT_START_SLOTS_H_
