// Wakes threads that wait on an absl::Mutex when a moment of the steady clock has come.
//
// Abseil's own timed waits end at a moment of the wall clock, so that a wall clock that is set back
// by an hour makes a wait of two seconds last an hour.
#ifndef BASE_INTERNAL_ALARM_H_
#define BASE_INTERNAL_ALARM_H_

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>

#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"

namespace base::internal {

// The machine's steady clock: CLOCK_BOOTTIME, which also counts the time of a suspension, so that a
// leader whose machine slept finds its lease expired.
SteadyTime ReadSteadyClock();

// Thread-safe. Starts one thread for the whole process at the first wait with a deadline.
class Alarm {
 public:
  Alarm();
  Alarm(const Alarm&) = delete;

  // Does what Clock::AwaitUntil promises.
  bool AwaitUntil(absl::Mutex& mu, const absl::Condition& condition, SteadyTime deadline)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);

  // How often a mutex was tried so far.
  int64_t tries() const;

 private:
  struct Waiter {
    absl::Mutex* mu;
    SteadyTime next_try;   // When its deadline has come.
    absl::Duration pause;  // Before the try after that.
  };
  using Waiters = std::multimap<SteadyTime, Waiter>;  // By deadline.

  Waiters::iterator Enter(absl::Mutex& mu, SteadyTime deadline);
  void Leave(Waiters::iterator waiter);
  void SetTimer(SteadyTime at);
  void Run();
  SteadyTime WakeDue(SteadyTime now);

  const int timer_;  // A timerfd.
  mutable std::mutex mu_;
  Waiters waiters_;                                     // Under mu_.
  SteadyTime timer_at_ = SteadyTime::InfiniteFuture();  // Under mu_: when the timer goes off.
  int64_t tries_ = 0;                                   // Under mu_.
  bool running_ = false;                                // Under mu_: the thread has been started.
};

}  // namespace base::internal

#endif  // BASE_INTERNAL_ALARM_H_
