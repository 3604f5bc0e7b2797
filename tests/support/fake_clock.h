// A clock that moves only when a test says so. Its wall clock can be stepped apart from the steady
// one, as an operator or NTP does.
//
//   FakeClock clock;
//   std::thread t([&] { queue.WaitWithClock(clock); });
//   clock.AwaitWaiters(1);            // The thread has gone to wait.
//   clock.Advance(absl::Seconds(5));  // Wakes it if its deadline has come.
//   clock.StepWall(-absl::Hours(1));  // Wakes nobody.
#ifndef TESTS_SUPPORT_FAKE_CLOCK_H_
#define TESTS_SUPPORT_FAKE_CLOCK_H_

#include <algorithm>
#include <atomic>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"

namespace tests {

// Thread-safe.
class FakeClock : public base::Clock {
 public:
  explicit FakeClock(absl::Time start = absl::FromUnixSeconds(1'700'000'000))
      : wall_ahead_nanos_(absl::ToUnixNanos(start)) {}

  absl::Time Now() const override {
    return absl::FromUnixNanos(wall_ahead_nanos_.load() + steady_nanos_.load());
  }
  base::SteadyTime SteadyNow() const override {
    return base::SteadyTime::At(absl::Nanoseconds(steady_nanos_.load()));
  }

  // Sets the wall clock forth or back; the steady clock does not change.
  void StepWall(absl::Duration d) { wall_ahead_nanos_ += absl::ToInt64Nanoseconds(d); }

  // Moves time forward and wakes the waiters whose deadline has come.
  void Advance(absl::Duration d) {
    steady_nanos_ += absl::ToInt64Nanoseconds(d);
    absl::MutexLock lock(&waiters_mu_);
    for (const Waiter& waiter : waiters_) Poke(*waiter.mu);
  }

  // As Advance, but also waits (in real time) until every thread whose deadline has come has
  // noticed. A test that goes on at once could move time further before such a thread has run.
  // REQUIRES: the caller holds no mutex that a waiter needs.
  void AdvanceAndAwait(absl::Duration d) {
    Advance(d);
    auto noticed = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(waiters_mu_) {
      return std::none_of(waiters_.begin(), waiters_.end(),
                          [&](const Waiter& w) { return SteadyNow() >= w.deadline; });
    };
    absl::MutexLock lock(&waiters_mu_, absl::Condition(&noticed));
  }

  bool AwaitUntil(absl::Mutex& mu, const absl::Condition& condition,
                  base::SteadyTime deadline) const override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    auto done = [&] { return condition.Eval() || SteadyNow() >= deadline; };
    if (!done()) Wait({&mu, deadline}, absl::Condition(&done));
    return condition.Eval();
  }

  // Returns how many threads wait on this clock now.
  int waiters() const {
    absl::MutexLock lock(&waiters_mu_);
    return static_cast<int>(waiters_.size());
  }

  // Returns how often a thread has begun to wait on this clock so far.
  int64_t waits() const {
    absl::MutexLock lock(&waiters_mu_);
    return waits_;
  }

  // Blocks (in real time) until at least n threads wait on this clock.
  void AwaitWaiters(int n) const {
    auto enough = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(waiters_mu_) {
      return static_cast<int>(waiters_.size()) >= n;
    };
    absl::MutexLock lock(&waiters_mu_, absl::Condition(&enough));
  }

 private:
  struct Waiter {
    absl::Mutex* mu;
    base::SteadyTime deadline;
  };

  // Makes waiters on `mu` evaluate their conditions again. If another thread holds it, unlocking
  // has the same effect, so blocking (which could deadlock) is not needed.
  static void Poke(absl::Mutex& mu) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    if (mu.TryLock()) mu.Unlock();
  }

  void Wait(const Waiter& waiter, const absl::Condition& done) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(waiter.mu) {
    {
      absl::MutexLock lock(&waiters_mu_);
      waiters_.push_back(waiter);
      ++waits_;
    }
    // A poke may come after `done` was evaluated and before the thread sleeps; the short period
    // repairs that.
    while (!waiter.mu->AwaitWithTimeout(done, absl::Milliseconds(5))) {
    }
    absl::MutexLock lock(&waiters_mu_);
    waiters_.erase(std::find_if(waiters_.begin(), waiters_.end(), [&](const Waiter& w) {
      return w.mu == waiter.mu && w.deadline == waiter.deadline;
    }));
  }

  std::atomic<int64_t> steady_nanos_ = 0;
  std::atomic<int64_t> wall_ahead_nanos_;
  mutable absl::Mutex waiters_mu_;
  mutable std::vector<Waiter> waiters_ ABSL_GUARDED_BY(waiters_mu_);
  mutable int64_t waits_ ABSL_GUARDED_BY(waiters_mu_) = 0;
};

}  // namespace tests

#endif  // TESTS_SUPPORT_FAKE_CLOCK_H_
