// One thread sleeps until the earliest callback is due, or until an earlier one has come (wake_at_
// is what it sleeps for). It runs one callback at a time, without the lock. Stop waits for the
// callback that runs; callbacks that have not begun by then are dropped, and later ones are not
// taken.
#include "sandbox/http/timers.h"

#include <utility>

namespace sandbox {

Timers::Timers(const base::Clock& clock) : clock_(clock), thread_([this] { Run(); }) {}

void Timers::After(absl::Duration delay, std::function<void()> callback) {
  absl::MutexLock lock(&mu_);
  if (!stopping_) waiting_.emplace(clock_.SteadyNow() + delay, std::move(callback));
}

void Timers::Stop() {
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
  }
  if (thread_.joinable()) thread_.join();
  absl::MutexLock lock(&mu_);
  waiting_.clear();
}

void Timers::Run() {
  // True when an earlier callback was added, or Stop was called.
  const auto disturbed = [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return stopping_ || (!waiting_.empty() && waiting_.begin()->first < wake_at_);
  };
  mu_.Lock();
  while (!stopping_) {
    wake_at_ = waiting_.empty() ? base::SteadyTime::InfiniteFuture() : waiting_.begin()->first;
    if (wake_at_ > clock_.SteadyNow()) {
      clock_.AwaitUntil(mu_, absl::Condition(&disturbed), wake_at_);
      continue;
    }
    const auto due = std::move(waiting_.begin()->second);
    waiting_.erase(waiting_.begin());
    mu_.Unlock();
    due();
    mu_.Lock();
  }
  mu_.Unlock();
}

}  // namespace sandbox
