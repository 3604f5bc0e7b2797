// A task is added, prepared, running and ended, in this order. Start prepares all tasks before the
// first one runs; a task that is added later is prepared and started at once. After RequestStop
// nothing is started any more. A task that returns an error, other than a cancellation after the
// stop, reports it on its own thread before it counts as ended.
//
// A task is given to the pool if it can run there, and else gets a thread. Threads that have
// ended are joined by AwaitEnd or by the destructor, which destroys the tasks only after the last
// one has ended. mu_ guards the list and is held neither while a task runs nor while it is
// prepared, which takes long when caches are large: meanwhile others ask how the tasks are, or stop
// the group.

#include "kube/runtime/internal/task_group.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "base/threads.h"

namespace kube::internal {
namespace {

constexpr size_t kLongestThreadName = 15;  // The limit of Linux.

}  // namespace

TaskGroup::~TaskGroup() {
  RequestStop();
  // The tasks are destroyed only after all threads have ended, because they may refer to each
  // other.
  std::list<Task> tasks;
  {
    const auto settled = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
      return !starting_ && preparing_ == 0;
    };
    absl::MutexLock lock(&mu_, absl::Condition(&settled));
    for (Task& task : tasks_) {
      if (!task.thread.joinable()) continue;
      mu_.Unlock();
      task.thread.join();
      mu_.Lock();
    }
    const auto ended = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return Ended(); };
    mu_.Await(absl::Condition(&ended));
    tasks.swap(tasks_);
  }
}

void TaskGroup::Add(std::unique_ptr<Runnable> runnable) {
  const auto settled = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return !starting_; };
  absl::MutexLock lock(&mu_, absl::Condition(&settled));
  Task& task = tasks_.emplace_back();
  task.runnable = std::move(runnable);
  if (!started_) return;
  PrepareTask(task);
  StartTask(task);
}

void TaskGroup::Start(const base::StopToken& cancelled) {
  absl::MutexLock lock(&mu_);
  if (std::exchange(started_, true)) return;
  starting_ = true;
  StartAll(cancelled);
  starting_ = false;
}

void TaskGroup::StartAll(const base::StopToken& cancelled) {
  const auto is_over = [&] {
    if (cancelled.stop_requested()) stop_.request_stop();  // Also for what is added later.
    return stop_.stop_requested();
  };
  for (Task& task : tasks_) {
    if (is_over()) return;
    PrepareTask(task);
  }
  for (Task& task : tasks_) {
    if (is_over()) return;
    StartTask(task);
  }
}

void TaskGroup::PrepareTask(Task& task) {
  task.running = true;
  ++preparing_;
  mu_.Unlock();
  task.runnable->Prepare();
  mu_.Lock();
  --preparing_;
  task.running = false;
}

void TaskGroup::StartTask(Task& task) {
  if (stop_.stop_requested()) return;
  task.running = true;
  if (auto* const pooled = dynamic_cast<PooledRunnable*>(task.runnable.get()); pooled != nullptr) {
    StartOnPool(task, *pooled);
  } else {
    StartThread(task);
  }
}

// It may have ended before RunOn returns.
void TaskGroup::StartOnPool(Task& task, PooledRunnable& runnable) {
  ++preparing_;
  mu_.Unlock();
  runnable.RunOn(*pool_, stop_.get_token(),
                 [this, &task](const absl::Status& status) { Ended(task, status); });
  mu_.Lock();
  --preparing_;
}

void TaskGroup::StartThread(Task& task) {
  absl::StatusOr<std::thread> thread = base::TryStartThread([this, &task] { Run(task); });
  if (thread.ok()) {
    task.thread = *std::move(thread);
    return;
  }
  task.running = false;
  on_failure_(base::Annotate(thread.status(), task.runnable->name()));
}

void TaskGroup::Run(Task& task) {
  // Threads that this one starts inherit the name.
  pthread_setname_np(pthread_self(), task.runnable->name().substr(0, kLongestThreadName).c_str());
  Ended(task, task.runnable->Run(stop_.get_token()));
}

void TaskGroup::Ended(Task& task, const absl::Status& status) {
  const bool stopped = absl::IsCancelled(status) && stop_.stop_requested();
  if (!status.ok() && !stopped) on_failure_(base::Annotate(status, task.runnable->name()));
  absl::MutexLock lock(&mu_);
  task.running = false;
}

void TaskGroup::RequestStop() {
  stop_.request_stop();
  absl::MutexLock lock(&mu_);
  started_ = true;  // A later Start must not start anything.
}

bool TaskGroup::Ended() const {
  return std::none_of(tasks_.begin(), tasks_.end(), [](const Task& t) { return t.running; });
}

bool TaskGroup::AwaitEnd(const base::Clock& clock, base::SteadyTime deadline) {
  absl::MutexLock lock(&mu_);
  const auto ended = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return Ended(); };
  const bool in_time = clock.AwaitUntil(mu_, absl::Condition(&ended), deadline);
  for (Task& task : tasks_) {
    // A thread that has reset `running` needs the lock no more and is about to return.
    if (!task.running && task.thread.joinable()) task.thread.join();
  }
  return in_time;
}

std::vector<std::string> TaskGroup::Running() const {
  std::vector<std::string> names;
  absl::MutexLock lock(&mu_);
  for (const Task& task : tasks_) {
    if (task.running) names.push_back(task.runnable->name());
  }
  return names;
}

void TaskGroup::UpdateMetrics() {
  absl::MutexLock lock(&mu_);
  for (const Task& task : tasks_) task.runnable->UpdateMetrics();
}

bool TaskGroup::IsIdle() const {
  absl::MutexLock lock(&mu_);
  return !starting_ && std::all_of(tasks_.begin(), tasks_.end(),
                                   [](const Task& task) { return task.runnable->IsIdle(); });
}

void TaskGroup::ForEach(const std::function<void(const Runnable&)>& look) const {
  absl::MutexLock lock(&mu_);
  for (const Task& task : tasks_) look(*task.runnable);
}

}  // namespace kube::internal
