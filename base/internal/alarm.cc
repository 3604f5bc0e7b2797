// How it works. A waiting thread enters its mutex and deadline in a table and waits for "condition
// or deadline" as an ordinary condition of its mutex. One thread sleeps on a timer that goes off at
// the earliest deadline in the table; it then locks and unlocks each mutex that is due, and an
// absl::Mutex that is unlocked evaluates the conditions of its waiters.
//
// The thread holds the lock of the table meanwhile, so that a waiter cannot leave (and its mutex
// cannot be destroyed). Therefore it only tries to lock each mutex, so that nothing can deadlock. A
// mutex that is held is tried again a little later: its holder may be a waiter that has evaluated
// its condition but does not sleep yet. Any other holder wakes the waiters itself when it unlocks,
// so the pauses may grow.

#include "base/internal/alarm.h"

#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <thread>

#include "base/log.h"
#include "base/threads.h"

namespace base::internal {
namespace {

constexpr absl::Duration kFirstPause = absl::Milliseconds(1);
constexpr absl::Duration kLongestPause = absl::Milliseconds(128);

}  // namespace

SteadyTime ReadSteadyClock() {
  timespec now;
  clock_gettime(CLOCK_BOOTTIME, &now);
  return SteadyTime::At(absl::DurationFromTimespec(now));
}

Alarm::Alarm() : timer_(timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC)) {
  if (timer_ >= 0) return;
  LogError("cannot create a timer", {{"errno", errno}});
  std::abort();
}

bool Alarm::AwaitUntil(absl::Mutex& mu, const absl::Condition& condition, SteadyTime deadline) {
  if (condition.Eval()) return true;
  if (deadline == SteadyTime::InfiniteFuture()) {
    mu.Await(condition);
    return true;
  }
  if (ReadSteadyClock() >= deadline) return false;
  const Waiters::iterator waiter = Enter(mu, deadline);
  bool holds = false;
  const auto over = [&] {
    holds = condition.Eval();
    return holds || ReadSteadyClock() >= deadline;
  };
  mu.Await(absl::Condition(&over));
  Leave(waiter);
  return holds;
}

Alarm::Waiters::iterator Alarm::Enter(absl::Mutex& mu, SteadyTime deadline) {
  std::lock_guard lock(mu_);
  if (!running_) {
    running_ = true;
    StartThread("the waits for a time", [this] { Run(); }).detach();
  }
  if (deadline < timer_at_) SetTimer(deadline);
  return waiters_.emplace(deadline, Waiter{&mu, deadline, kFirstPause});
}

// The timer is not changed: waking up once in vain is cheaper than setting the timer for each wait.
void Alarm::Leave(Waiters::iterator waiter) {
  std::lock_guard lock(mu_);
  waiters_.erase(waiter);
}

// Also wakes the thread if it is waiting for a later time.
void Alarm::SetTimer(SteadyTime at) {
  timer_at_ = at;
  itimerspec setting = {};
  if (at != SteadyTime::InfiniteFuture()) {
    setting.it_value = absl::ToTimespec(at.since_beginning());
    // A value of zero would disarm the timer.
    if (at <= SteadyTime()) setting.it_value = {.tv_sec = 0, .tv_nsec = 1};
  }
  timerfd_settime(timer_, TFD_TIMER_ABSTIME, &setting, nullptr);
}

void Alarm::Run() {
  for (;;) {
    uint64_t times = 0;
    if (read(timer_, &times, sizeof(times)) < 0 && errno != EINTR) std::abort();
    std::lock_guard lock(mu_);
    SetTimer(WakeDue(ReadSteadyClock()));
  }
}

int64_t Alarm::tries() const {
  std::lock_guard lock(mu_);
  return tries_;
}

// Tries to wake the waiters that are due; returns when to try again.
SteadyTime Alarm::WakeDue(SteadyTime now) ABSL_NO_THREAD_SAFETY_ANALYSIS {
  const auto later = waiters_.upper_bound(now);
  SteadyTime next = later == waiters_.end() ? SteadyTime::InfiniteFuture() : later->first;
  // Waiters that were woken stay in the table until they have got their mutex, and are tried again.
  for (auto it = waiters_.begin(); it != later; ++it) {
    Waiter& waiter = it->second;
    if (waiter.next_try <= now) {
      ++tries_;
      if (waiter.mu->TryLock()) waiter.mu->Unlock();
      waiter.next_try = now + waiter.pause;
      waiter.pause = std::min(2 * waiter.pause, kLongestPause);
    }
    next = std::min(next, waiter.next_try);
  }
  return next;
}

}  // namespace base::internal
