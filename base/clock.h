// Clocks, which tests can replace. No other code of the program reads or waits for real time.
//
// There are two scales. The wall clock (absl::Time) may be stepped either way by operators and NTP,
// so it is only written into objects and compared with times that others wrote there. The steady
// clock (SteadyTime) never steps; every wait, delay, deadline and measured duration uses it.
#ifndef BASE_CLOCK_H_
#define BASE_CLOCK_H_

#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/stop_token.h"

namespace base {

// A moment on a clock's steady scale. Only differences have a meaning: the beginning of the scale
// is arbitrary and differs between clocks. It is a type of its own, so that it cannot be mistaken
// for a wall time.
class SteadyTime {
 public:
  // The beginning of the scale.
  constexpr SteadyTime() = default;
  static constexpr SteadyTime At(absl::Duration since_beginning) {
    return SteadyTime(since_beginning);
  }
  static constexpr SteadyTime InfiniteFuture() { return SteadyTime(absl::InfiniteDuration()); }
  static constexpr SteadyTime InfinitePast() { return SteadyTime(-absl::InfiniteDuration()); }

  absl::Duration since_beginning() const { return since_beginning_; }

  friend SteadyTime operator+(SteadyTime t, absl::Duration d) {
    return SteadyTime(t.since_beginning_ + d);
  }
  friend SteadyTime operator-(SteadyTime t, absl::Duration d) {
    return SteadyTime(t.since_beginning_ - d);
  }
  friend absl::Duration operator-(SteadyTime a, SteadyTime b) {
    return a.since_beginning_ - b.since_beginning_;
  }
  friend bool operator==(SteadyTime a, SteadyTime b) {
    return a.since_beginning_ == b.since_beginning_;
  }
  friend bool operator!=(SteadyTime a, SteadyTime b) { return !(a == b); }
  friend bool operator<(SteadyTime a, SteadyTime b) {
    return a.since_beginning_ < b.since_beginning_;
  }
  friend bool operator>(SteadyTime a, SteadyTime b) { return b < a; }
  friend bool operator<=(SteadyTime a, SteadyTime b) { return !(b < a); }
  friend bool operator>=(SteadyTime a, SteadyTime b) { return !(a < b); }

 private:
  explicit constexpr SteadyTime(absl::Duration since_beginning)
      : since_beginning_(since_beginning) {}
  absl::Duration since_beginning_;
};

// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  // Returns the wall-clock time.
  virtual absl::Time Now() const = 0;
  // Returns the steady time. It goes on while the machine is suspended.
  virtual SteadyTime SteadyNow() const = 0;
  // Waits until `condition` holds or `deadline` has come; returns whether it holds. REQUIRES: `mu`
  // is held; it is released while waiting.
  virtual bool AwaitUntil(absl::Mutex& mu, const absl::Condition& condition,
                          SteadyTime deadline) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) = 0;
  // Sleeps; returns early (false) when stopped.
  bool SleepFor(absl::Duration d, const StopToken& stop) const;
};

// Returns the machine's clock, which is never destroyed.
const Clock& RealClock();

}  // namespace base

#endif  // BASE_CLOCK_H_
