#include "kube/aggregation/work_pool.h"

#include <pthread.h>

#include <exception>
#include <utility>

#include "base/log.h"
#include "base/threads.h"

namespace kube::aggregation {

WorkPool::WorkPool(std::string name, int max_threads, size_t max_waiting)
    : name_(std::move(name)),
      max_threads_(static_cast<size_t>(max_threads)),
      max_waiting_(max_waiting) {}

WorkPool::~WorkPool() { Stop(); }

bool WorkPool::Run(std::function<void()> work) {
  absl::MutexLock lock(&mu_);
  // What an idle thread is about to take does not wait.
  if (stopped_ || waiting_.size() >= max_waiting_ + idle_) return false;
  waiting_.push_back(std::move(work));
  if (waiting_.size() <= idle_ || threads_.size() >= max_threads_ || StartThread()) return true;
  // Those that there are will come to it. Without any nobody would.
  if (!threads_.empty()) return true;
  waiting_.pop_back();
  return false;
}

bool WorkPool::StartThread() {
  absl::StatusOr<std::thread> thread = base::TryStartThread([this] { Loop(); });
  if (thread.ok()) {
    threads_.push_back(*std::move(thread));
    return true;
  }
  base::LogError("no further thread can be started", {{"pool", name_}, {"error", thread.status()}});
  return false;
}

void WorkPool::Stop() {
  std::vector<std::thread> threads;
  // Destroyed after the lock is released, because it may own anything.
  std::deque<std::function<void()>> dropped;
  {
    absl::MutexLock lock(&mu_);
    stopped_ = true;
    dropped.swap(waiting_);
    threads.swap(threads_);
  }
  for (std::thread& thread : threads) thread.join();
}

void WorkPool::Loop() {
  pthread_setname_np(pthread_self(), name_.c_str());
  const auto has_news = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return stopped_ || !waiting_.empty();
  };
  for (;;) {
    std::function<void()> work;
    {
      absl::MutexLock lock(&mu_);
      ++idle_;
      mu_.Await(absl::Condition(&has_news));
      --idle_;
      if (stopped_) return;
      work = std::move(waiting_.front());
      waiting_.pop_front();
    }
    RunGuarded(work);
  }
}

void WorkPool::RunGuarded(const std::function<void()>& work) const {
  try {
    work();
  } catch (const std::exception& e) {
    base::LogError("an exception ended a piece of work", {{"pool", name_}, {"error", e.what()}});
  }
}

}  // namespace kube::aggregation
