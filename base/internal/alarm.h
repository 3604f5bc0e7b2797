// Wakes threads that wait on an absl::Mutex at a given time of the steady clock.
//
// Abseil's own timed waits end at a time of the wall clock, so that a wall clock that is set back
// by an hour makes a wait of two seconds last an hour longer.
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

// Reads the machine's steady clock: CLOCK_BOOTTIME, which also counts the time of a suspension, so
// that a leader whose machine slept finds its lease expired.
SteadyTime ReadSteadyClock();

// Thread-safe. Starts one thread for the whole process at the first wait with a deadline.
class Alarm {
 public:
  Alarm();
  Alarm(const Alarm&) = delete;

  // Has the contract of Clock::AwaitUntil.
  bool AwaitUntil(absl::Mutex& mu, const absl::Condition& condition, SteadyTime deadline)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);

  // Returns how often mutexes were tried so far.
  int64_t tries() const;

 private:
  struct Waiter {
    absl::Mutex* mu;
    SteadyTime next_try;   // At first its deadline.
    absl::Duration pause;  // The pause after the next try.
  };
  using Waiters = std::multimap<SteadyTime, Waiter>;  // By deadline.

  Waiters::iterator Enter(absl::Mutex& mu, SteadyTime deadline);
  void Leave(Waiters::iterator waiter);
  void SetTimer(SteadyTime at);
  void Run();
  SteadyTime WakeDue(SteadyTime now);

  const int timer_;  // A timerfd.
  mutable std::mutex mu_;
  Waiters waiters_;                                     // Guarded by mu_.
  SteadyTime timer_at_ = SteadyTime::InfiniteFuture();  // Guarded by mu_; when the timer goes off.
  int64_t tries_ = 0;                                   // Guarded by mu_.
  bool running_ = false;                                // Guarded by mu_; whether the thread runs.
};

}  // namespace base::internal

#endif  // BASE_INTERNAL_ALARM_H_
