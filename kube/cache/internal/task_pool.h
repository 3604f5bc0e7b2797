// A few threads that run tasks at their time: the lists and the retries of one InformerSet.
#ifndef KUBE_CACHE_INTERNAL_TASK_POOL_H_
#define KUBE_CACHE_INTERNAL_TASK_POOL_H_

#include <functional>
#include <map>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"

namespace kube::internal {

// Threads start on demand, up to `max_threads`, and stay. Thread-safe.
class TaskPool {
 public:
  // REQUIRES: clock outlives the pool.
  TaskPool(const base::Clock& clock, int max_threads);
  ~TaskPool();  // Stops.
  TaskPool(const TaskPool&) = delete;

  // Runs `task` once `when` has come (at once when it is past). Dropped when stopped.
  void RunAt(base::SteadyTime when, std::function<void()> task);
  // Drops the tasks not begun and waits for those that run. REQUIRES: not called from a task.
  void Stop();

 private:
  void Work();
  base::SteadyTime NextTime() const ABSL_SHARED_LOCKS_REQUIRED(mu_);

  const base::Clock& clock_;
  const size_t max_threads_;
  absl::Mutex mu_;
  std::multimap<base::SteadyTime, std::function<void()>> tasks_ ABSL_GUARDED_BY(mu_);
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mu_);
  size_t idle_ ABSL_GUARDED_BY(mu_) = 0;
  bool stopped_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace kube::internal

#endif  // KUBE_CACHE_INTERNAL_TASK_POOL_H_
