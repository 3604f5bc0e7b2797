#include "base/clock.h"

namespace base {
namespace {

class MachineClock : public Clock {
 public:
  absl::Time Now() const override { return absl::Now(); }

  bool AwaitUntil(absl::Mutex& mu, const absl::Condition& condition,
                  absl::Time deadline) const override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    return mu.AwaitWithDeadline(condition, deadline);
  }
};

}  // namespace

bool Clock::SleepFor(absl::Duration d, const StopToken& stop) const {
  absl::Mutex mu;
  bool stopped = false;
  StopCallback wake(stop, [&] {
    absl::MutexLock lock(&mu);
    stopped = true;
  });
  // Released before `wake` is destroyed, which waits for a callback that is running.
  absl::MutexLock lock(&mu);
  return !AwaitUntil(mu, absl::Condition(&stopped), Now() + d);
}

const Clock& RealClock() {
  static const auto* const kClock =
      new MachineClock;  // Never destroyed: threads may outlive main().
  return *kClock;
}

}  // namespace base
