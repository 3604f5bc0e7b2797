#include "base/clock.h"

#include "base/internal/alarm.h"
#include "base/stop_flag.h"

namespace base {
namespace {

class MachineClock : public Clock {
 public:
  absl::Time Now() const override { return absl::Now(); }
  SteadyTime SteadyNow() const override { return internal::ReadSteadyClock(); }

  bool AwaitUntil(absl::Mutex& mu, const absl::Condition& condition,
                  SteadyTime deadline) const override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    return alarm_.AwaitUntil(mu, condition, deadline);
  }

 private:
  mutable internal::Alarm alarm_;
};

}  // namespace

bool Clock::SleepFor(absl::Duration d, const StopToken& stop) const {
  absl::Mutex mu;
  const StopFlag flag(mu, stop);
  const auto stopped = [&] { return flag.IsSet(); };
  absl::MutexLock lock(&mu);
  return !AwaitUntil(mu, absl::Condition(&stopped), SteadyNow() + d);
}

const Clock& RealClock() {
  static const auto* const kClock =
      new MachineClock;  // Never destroyed: threads may outlive main().
  return *kClock;
}

}  // namespace base
