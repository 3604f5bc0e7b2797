#include "kube/cache/internal/task_pool.h"

#include <utility>

namespace kube::internal {

TaskPool::TaskPool(const base::Clock& clock, int max_threads)
    : clock_(clock), max_threads_(max_threads) {}

TaskPool::~TaskPool() { Stop(); }

void TaskPool::RunAt(base::SteadyTime when, std::function<void()> task) {
  absl::MutexLock lock(&mu_);
  if (stopped_) return;
  tasks_.emplace(when, std::move(task));
  if (tasks_.size() > idle_ && threads_.size() < max_threads_) {
    threads_.emplace_back([this] { Work(); });
  }
}

void TaskPool::Stop() {
  std::vector<std::thread> threads;
  std::multimap<base::SteadyTime, std::function<void()>> dropped;  // Destroyed without the lock.
  {
    absl::MutexLock lock(&mu_);
    stopped_ = true;
    threads.swap(threads_);
    dropped.swap(tasks_);
  }
  for (std::thread& thread : threads) thread.join();
}

base::SteadyTime TaskPool::NextTime() const {
  return tasks_.empty() ? base::SteadyTime::InfiniteFuture() : tasks_.begin()->first;
}

void TaskPool::Work() {
  absl::MutexLock lock(&mu_);
  while (!stopped_) {
    const base::SteadyTime next = NextTime();
    if (clock_.SteadyNow() < next) {
      const auto changed = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
        return stopped_ || NextTime() < next;
      };
      ++idle_;
      clock_.AwaitUntil(mu_, absl::Condition(&changed), next);
      --idle_;
      continue;
    }
    std::function<void()> task = std::move(tasks_.begin()->second);
    tasks_.erase(tasks_.begin());
    mu_.Unlock();
    task();
    task = nullptr;  // What it holds may be freed only without the lock.
    mu_.Lock();
  }
}

}  // namespace kube::internal
