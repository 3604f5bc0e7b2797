#include "kube/runtime/internal/worker_threads.h"

#include <algorithm>
#include <utility>

namespace kube::internal {

WorkerThreads::Limits WorkerThreads::LimitsFor(int workers, const LaneOptions& lanes) {
  if (!lanes.of) return {workers, workers};
  return {workers + 1, workers + lanes.max_held_slow};
}

WorkerThreads::WorkerThreads(Limits limits, std::function<std::optional<WorkQueue::Taken>()> take,
                             std::function<void(const WorkQueue::Taken&)> work)
    : limits_(limits), take_(std::move(take)), work_(std::move(work)) {}

void WorkerThreads::Run() {
  Loop(/*may_end=*/false);
  // A thread that still works may start another one.
  for (;;) {
    std::thread next;
    {
      absl::MutexLock lock(&mu_);
      Threads& from = ended_.empty() ? threads_ : ended_;
      if (from.empty()) return;
      next = std::move(from.front());
      from.pop_front();
    }
    next.join();
  }
}

void WorkerThreads::Loop(bool may_end) {
  while (const std::optional<WorkQueue::Taken> taken = take_()) {
    {
      absl::MutexLock lock(&mu_);
      if (--idle_ == 0 && static_cast<int>(threads_.size()) + 1 < limits_.most) Start();
    }
    work_(*taken);
    absl::MutexLock lock(&mu_);
    // Two that wait are enough for whatever comes next.
    const bool too_many = static_cast<int>(threads_.size()) + 1 > limits_.lasting;
    if (may_end && too_many && idle_ >= 2) return End();
    ++idle_;
  }
}

void WorkerThreads::Start() {
  for (std::thread& thread : ended_) thread.join();  // They hold no lock any more.
  ended_.clear();
  ++idle_;
  threads_.emplace_back([this] { Loop(/*may_end=*/true); });
}

void WorkerThreads::End() {
  const auto self = std::find_if(threads_.begin(), threads_.end(), [](const std::thread& thread) {
    return thread.get_id() == std::this_thread::get_id();
  });
  if (self != threads_.end()) ended_.splice(ended_.end(), threads_, self);
}

}  // namespace kube::internal
