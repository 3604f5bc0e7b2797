// The threads on which a controller works.
#ifndef KUBE_RUNTIME_INTERNAL_WORKER_THREADS_H_
#define KUBE_RUNTIME_INTERNAL_WORKER_THREADS_H_

#include <functional>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/threads.h"
#include "kube/runtime/work_queue.h"

namespace kube::internal {

// Starts threads as they are needed: below the limit `most`, one thread always waits for the next
// item. Threads beyond `lasting` end as soon as they are not needed, the others when they have not
// been needed for some time (WorkQueue::Next).
class WorkerThreads {
 public:
  struct Limits {
    int lasting = 1;
    int most = 1;
  };
  // Returns the limits for a queue with these lanes and this number of workers.
  static Limits LimitsFor(int workers, const LaneOptions& lanes);

  // `work` is called from many threads at once; its item is given back to the queue afterwards.
  // REQUIRES: the queue outlives this object.
  WorkerThreads(Limits limits, WorkQueue& queue, std::function<void(const WorkQueue::Taken&)> work);
  WorkerThreads(const WorkerThreads&) = delete;

  // Works, on this thread and others, until the queue has ended. Call it once.
  void Run();

 private:
  // Takes items and works on them until there are no more, or, with `may_end`, until the thread is
  // not needed.
  void Loop(bool may_end);
  void Began();
  // Returns whether the thread ends instead of waiting for the next item.
  bool EndsAfterWork(bool may_end);
  bool EndsWhileWaiting();
  void Start() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Limits limits_;
  WorkQueue& queue_;
  const std::function<void(const WorkQueue::Taken&)> work_;
  absl::Mutex mu_;
  int threads_ ABSL_GUARDED_BY(mu_) = 0;  // Without the thread of Run.
  // Threads that wait for an item or are about to; Run's is the first.
  int idle_ ABSL_GUARDED_BY(mu_) = 1;
  base::DetachedThreads running_{"the workers of a controller"};
};

}  // namespace kube::internal

#endif  // KUBE_RUNTIME_INTERNAL_WORKER_THREADS_H_
