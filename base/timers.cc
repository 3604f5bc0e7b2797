// One thread sleeps until the earliest callback is due, or until an earlier one has come (wake_at_
// is what it sleeps for). It runs one callback at a time, without the lock. Stop waits for the
// callback that runs; callbacks that have not begun by then are dropped, and later ones are not
// taken.

#include "base/timers.h"

#include <pthread.h>

#include "base/threads.h"

namespace base {

Timers::Timers(const Clock& clock)
    : clock_(clock), thread_(StartThread("the timers", [this] { Run(); })) {}

void Timers::Stop() {
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
  }
  if (thread_.joinable()) thread_.join();
  std::map<Id, std::function<void()>> dropped;  // Destroyed after the lock is released.
  absl::MutexLock lock(&mu_);
  dropped.swap(waiting_);
}

Timers::Id Timers::Add(SteadyTime when, std::function<void()> callback) {
  absl::MutexLock lock(&mu_);
  const Id id(when, ++last_);
  if (!stopping_) waiting_.emplace(id, std::move(callback));
  return id;
}

Timers::Id Timers::After(absl::Duration delay, std::function<void()> callback) {
  return Add(clock_.SteadyNow() + delay, std::move(callback));
}

void Timers::Cancel(const Id& id) {
  std::function<void()> dropped;  // Destroyed after the lock is released.
  absl::MutexLock lock(&mu_);
  const auto place = waiting_.find(id);
  if (place == waiting_.end()) return;
  dropped = std::move(place->second);
  waiting_.erase(place);
}

void Timers::Run() {
  pthread_setname_np(pthread_self(), "timers");
  // True when an earlier callback was added, or Stop was called.
  const auto disturbed = [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return stopping_ || (!waiting_.empty() && waiting_.begin()->first.first < wake_at_);
  };
  mu_.Lock();
  while (!stopping_) {
    wake_at_ = waiting_.empty() ? SteadyTime::InfiniteFuture() : waiting_.begin()->first.first;
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

}  // namespace base
