// Time, so that tests can own it. Nothing else in the program reads or waits for real time.
#ifndef BASE_CLOCK_H_
#define BASE_CLOCK_H_

#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/stop_token.h"

namespace base {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual absl::Time Now() const = 0;
  // Waits until `condition` holds or `deadline` (this clock's time) has come; says whether it
  // holds. REQUIRES: `mu` is held; it is released while waiting.
  virtual bool AwaitUntil(absl::Mutex& mu, const absl::Condition& condition,
                          absl::Time deadline) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) = 0;
  // Sleeps; returns early (false) when stopped.
  bool SleepFor(absl::Duration d, const StopToken& stop) const;
};

// The machine's clock. Lives for ever.
const Clock& RealClock();

}  // namespace base

#endif  // BASE_CLOCK_H_
