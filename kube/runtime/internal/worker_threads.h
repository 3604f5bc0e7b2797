// The threads on which a controller works.
#ifndef KUBE_RUNTIME_INTERNAL_WORKER_THREADS_H_
#define KUBE_RUNTIME_INTERNAL_WORKER_THREADS_H_

#include <functional>
#include <list>
#include <optional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "kube/runtime/work_queue.h"

namespace kube::internal {

// Starts threads as they are needed: while there may be more, one always waits for the next item.
// Those beyond `lasting` end as soon as they are not needed, the others when they have not been
// needed for some time (WorkQueue::Next).
class WorkerThreads {
 public:
  struct Limits {
    int lasting = 1;
    int most = 1;
  };
  // Returns the limits for a queue with these lanes and so many workers.
  static Limits LimitsFor(int workers, const LaneOptions& lanes);

  // `work` is called from many threads at once; what it was given is given back to the queue
  // afterwards. REQUIRES: the queue outlives this object.
  WorkerThreads(Limits limits, WorkQueue& queue, std::function<void(const WorkQueue::Taken&)> work);
  WorkerThreads(const WorkerThreads&) = delete;

  // Works, on this thread and others, until the queue has ended. REQUIRES: called once.
  void Run();

 private:
  using Threads = std::list<std::thread>;

  // Takes and works until there is no more; with `may_end`, until the thread is not needed.
  void Loop(bool may_end);
  void Began();
  // Returns whether the thread ends instead of waiting for the next item.
  bool EndsAfterWork(bool may_end);
  bool EndsWhileWaiting();
  void Start() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Moves the calling thread to those that have ended.
  void End() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Limits limits_;
  WorkQueue& queue_;
  const std::function<void(const WorkQueue::Taken&)> work_;
  absl::Mutex mu_;
  Threads threads_ ABSL_GUARDED_BY(mu_);  // That of Run apart.
  Threads ended_ ABSL_GUARDED_BY(mu_);    // To be joined.
  int idle_ ABSL_GUARDED_BY(mu_) = 1;     // Wait for an item, or are about to. Run's is the first.
};

}  // namespace kube::internal

#endif  // KUBE_RUNTIME_INTERNAL_WORKER_THREADS_H_
