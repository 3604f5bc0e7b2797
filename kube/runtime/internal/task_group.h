// Runs runnables that start and stop together, on the threads of a pool or each on its own.
#ifndef KUBE_RUNTIME_INTERNAL_TASK_GROUP_H_
#define KUBE_RUNTIME_INTERNAL_TASK_GROUP_H_

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "kube/runtime/manager.h"

namespace kube::internal {

// Thread-safe.
class TaskGroup {
 public:
  // Called with each error that a run has ended with, on the thread on which it ended, and when
  // there is no thread for a runnable, on the thread that starts the group. Must not call the
  // group.
  using OnFailure = std::function<void(const absl::Status&)>;

  // Pooled runnables work on what `pool` is when they start. REQUIRES: it outlives the group.
  TaskGroup(const std::shared_ptr<WorkerPool>& pool, OnFailure on_failure)
      : pool_(pool), on_failure_(std::move(on_failure)) {}
  ~TaskGroup();  // Requests the stop and waits until all have ended.
  TaskGroup(const TaskGroup&) = delete;

  // The runnable starts with the group, or at once if the group has been started. Waits while
  // another thread starts the group.
  void Add(std::unique_ptr<Runnable> runnable);
  // Prepares and starts all, on this thread. Returns early, and starts nothing more, once
  // `cancelled` is stopped.
  void Start(const base::StopToken& cancelled = {});
  // Requests the stop of all; nothing is started afterwards.
  void RequestStop();
  // Returns whether all that were started have ended by `deadline`, and none is being prepared.
  // Threads that have ended are joined.
  bool AwaitEnd(const base::Clock& clock, base::SteadyTime deadline);
  // Returns the names of those that have not ended, also of one that is being prepared.
  std::vector<std::string> Running() const;
  void UpdateMetrics();
  bool IsIdle() const;  // See Runnable. False while the group is being started.
  // Calls `look` for each runnable, with the lock held.
  void ForEach(const std::function<void(const Runnable&)>& look) const;

 private:
  struct Task {
    std::unique_ptr<Runnable> runnable;
    std::thread thread;    // Unless it runs on the pool.
    bool running = false;  // Or being prepared.
  };

  void StartAll(const base::StopToken& cancelled) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Gives the lock up meanwhile.
  void PrepareTask(Task& task) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void StartTask(Task& task) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Gives the lock up meanwhile.
  void StartOnPool(Task& task, PooledRunnable& runnable) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void StartThread(Task& task) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Run(Task& task);
  void Ended(Task& task, const absl::Status& status);
  bool Ended() const ABSL_SHARED_LOCKS_REQUIRED(mu_);

  const std::shared_ptr<WorkerPool>& pool_;
  const OnFailure on_failure_;
  base::StopSource stop_;
  mutable absl::Mutex mu_;
  std::list<Task> tasks_ ABSL_GUARDED_BY(mu_);  // A list, because threads refer to their task.
  bool started_ ABSL_GUARDED_BY(mu_) = false;
  bool starting_ ABSL_GUARDED_BY(mu_) = false;  // While Start runs.
  int preparing_ ABSL_GUARDED_BY(mu_) = 0;      // How many are being prepared now.
};

}  // namespace kube::internal

#endif  // KUBE_RUNTIME_INTERNAL_TASK_GROUP_H_
