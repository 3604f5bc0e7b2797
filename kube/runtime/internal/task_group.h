// Runnables that start and stop together, each on a thread of its own.
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
  // Told of each Run that returned an error, on its thread.
  using OnFailure = std::function<void(const absl::Status&)>;

  explicit TaskGroup(OnFailure on_failure) : on_failure_(std::move(on_failure)) {}
  ~TaskGroup();  // Requests the stop and waits for all.
  TaskGroup(const TaskGroup&) = delete;

  // Started at once when the group has been started.
  void Add(std::unique_ptr<Runnable> runnable);
  void Start();
  // Asks all to end; nothing is started any more.
  void RequestStop();
  // Returns whether all that were started have ended by `deadline`. Threads that have ended are
  // joined.
  bool AwaitEnd(const base::Clock& clock, base::SteadyTime deadline);
  std::vector<std::string> Running() const;
  void UpdateMetrics();

 private:
  struct Task {
    std::unique_ptr<Runnable> runnable;
    std::thread thread;
    bool running = false;
  };

  void StartTask(Task& task) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Run(Task& task);
  bool Ended() const ABSL_SHARED_LOCKS_REQUIRED(mu_);

  const OnFailure on_failure_;
  base::StopSource stop_;
  mutable absl::Mutex mu_;
  std::list<Task> tasks_ ABSL_GUARDED_BY(mu_);  // Tasks stay where they are.
  bool started_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace kube::internal

#endif  // KUBE_RUNTIME_INTERNAL_TASK_GROUP_H_
