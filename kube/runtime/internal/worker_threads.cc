// Run's own thread is the first worker and stays to the end. A worker that takes an item while
// nobody else waits starts another one, up to the most that are allowed, so that one always waits.
// Others end on two occasions: after their work, when there are more than `lasting` threads and two
// already wait; and when the queue lets a waiting one go because it was not needed for long, if
// another one waits. When the system has no thread left, those that there are go on alone; then
// none waits for the next item while all work. mu_ guards the counts, and is held neither in the
// queue nor during work.

#include "kube/runtime/internal/worker_threads.h"

#include <utility>

namespace kube::internal {

WorkerThreads::Limits WorkerThreads::LimitsFor(int workers, const LaneOptions& lanes) {
  if (!lanes.of) return {workers, workers};
  return {workers + 1, workers + lanes.max_held_slow};
}

WorkerThreads::WorkerThreads(Limits limits, WorkQueue& queue,
                             std::function<void(const WorkQueue::Taken&)> work)
    : limits_(limits), queue_(queue), work_(std::move(work)) {}

void WorkerThreads::Run() {
  Loop(/*may_end=*/false);
  running_.AwaitEnd();
}

void WorkerThreads::Loop(bool may_end) {
  std::optional<Request> done;
  for (;;) {
    const WorkQueue::Turn turn = queue_.Next(std::exchange(done, std::nullopt), may_end);
    if (turn.is_over) return;
    if (!turn.taken.has_value()) {
      if (EndsWhileWaiting()) return;
      continue;
    }
    Began();
    work_(*turn.taken);
    if (EndsAfterWork(may_end)) return queue_.Done(turn.taken->request);
    done = turn.taken->request;
  }
}
void WorkerThreads::Began() {
  absl::MutexLock lock(&mu_);
  if (--idle_ == 0 && threads_ + 1 < limits_.most) Start();
}

bool WorkerThreads::EndsAfterWork(bool may_end) {
  absl::MutexLock lock(&mu_);
  // Two waiting threads are enough for the next items.
  const bool too_many = threads_ + 1 > limits_.lasting;
  if (may_end && too_many && idle_ >= 2) {
    --threads_;
    return true;
  }
  ++idle_;
  return false;
}

bool WorkerThreads::EndsWhileWaiting() {
  absl::MutexLock lock(&mu_);
  if (idle_ < 2) return false;  // One thread has to wait.
  --idle_;
  --threads_;
  return true;
}

void WorkerThreads::Start() {
  if (!running_.Start(/*others=*/true, [this] { Loop(/*may_end=*/true); })) return;
  ++idle_;
  ++threads_;
}

}  // namespace kube::internal
