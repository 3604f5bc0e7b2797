// How it works. Tasks are in a map, sorted by the time at which they are due and by the order in
// which they were posted. The thread runs the first one if it is due; otherwise it waits until that
// time, until a task that is due earlier is posted, or until Stop.

#include "sandbox/sim/event_loop.h"

#include "absl/synchronization/notification.h"
#include "base/threads.h"

namespace sandbox {

EventLoop::EventLoop(const base::Clock& clock)
    : clock_(clock), thread_(base::StartThread("a simulated cluster", [this] { Run(); })) {}

EventLoop::~EventLoop() { Stop(); }

void EventLoop::Post(const void* owner, std::function<void()> task, absl::Duration delay) {
  const base::SteadyTime due = clock_.SteadyNow() + delay;
  absl::MutexLock lock(&mu_);
  if (stopped_) return;
  tasks_.emplace(Due{due, posted_++}, Task{owner, std::move(task)});
}

void EventLoop::RunAlone(const std::function<void()>& task) {
  absl::Notification ended;
  Post(&ended, [&] {
    task();
    ended.Notify();
  });
  ended.WaitForNotification();
}

void EventLoop::Forget(const void* owner) {
  absl::MutexLock lock(&mu_);
  std::erase_if(tasks_, [&](const auto& item) { return item.second.owner == owner; });
  if (std::this_thread::get_id() == thread_.get_id()) return;
  auto idle = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return running_ != owner; };
  mu_.Await(absl::Condition(&idle));
  // The task that has just ended may have posted more.
  std::erase_if(tasks_, [&](const auto& item) { return item.second.owner == owner; });
}

bool EventLoop::IsIdle() const {
  const bool due = !tasks_.empty() && tasks_.begin()->first.first <= clock_.SteadyNow();
  return running_ == nullptr && !due;
}

void EventLoop::WaitIdle() {
  absl::MutexLock lock(&mu_, absl::Condition(this, &EventLoop::IsIdle));
}

void EventLoop::Stop() {
  {
    absl::MutexLock lock(&mu_);
    stopped_ = true;
    tasks_.clear();
  }
  if (thread_.joinable()) thread_.join();
}

bool EventLoop::SomethingChanged() const {
  return stopped_ || (!tasks_.empty() && tasks_.begin()->first.first < wake_at_);
}

bool EventLoop::Next(Task& task) {
  absl::MutexLock lock(&mu_);
  running_ = nullptr;
  while (!stopped_) {
    const bool waiting = !tasks_.empty();
    if (waiting && tasks_.begin()->first.first <= clock_.SteadyNow()) {
      auto node = tasks_.extract(tasks_.begin());
      task = std::move(node.mapped());
      running_ = task.owner;
      return true;
    }
    wake_at_ = waiting ? tasks_.begin()->first.first : base::SteadyTime::InfiniteFuture();
    clock_.AwaitUntil(mu_, absl::Condition(this, &EventLoop::SomethingChanged), wake_at_);
  }
  return false;
}

void EventLoop::Run() {
  for (Task task; Next(task);) {
    task.run();
    task.run = nullptr;  // What it captured is destroyed before its owner may be.
  }
}

}  // namespace sandbox
