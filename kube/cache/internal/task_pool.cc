// Tasks wait in one table, ordered by their times. A thread that has nothing to do looks for the
// first task that is due and whose lane may run one more. When there is none it becomes idle: one
// idle thread, the timekeeper, waits for the time of the next task; the others wait to be woken,
// and end after ten seconds. A new task wakes a thread unless the timekeeper waits for this task's
// time or an earlier one. A timekeeper that takes a task stops being the timekeeper, so a thread
// that begins a task wakes another one if a task is left for which no thread waits; otherwise that
// task would have to wait for the end of this one.
#include "kube/cache/internal/task_pool.h"

#include <algorithm>
#include <utility>

namespace kube::internal {
namespace {

constexpr int kRunningPerLane = 2;
constexpr absl::Duration kSlow = absl::Seconds(2);
constexpr absl::Duration kIdleThreadEnds = absl::Seconds(10);

}  // namespace

TaskPool::TaskPool(const base::Clock& clock, int max_threads)
    : clock_(clock), max_threads_(max_threads) {}

TaskPool::~TaskPool() {
  Threads threads;
  Tasks dropped;  // Declared before the lock, so that they are destroyed after the unlock.
  {
    absl::MutexLock lock(&mu_);
    stopped_ = true;
    dropped.swap(tasks_);
    const auto ended = [this]() ABSL_SHARED_LOCKS_REQUIRED(mu_) { return threads_.empty(); };
    mu_.Await(absl::Condition(&ended));
    threads.swap(ended_);
  }
  for (std::thread& thread : threads) thread.join();
}

size_t TaskPool::threads() const {
  absl::MutexLock lock(&mu_);
  return threads_.size();
}

void TaskPool::RunAt(const LanePtr& lane, base::SteadyTime when, std::function<void()> task) {
  Threads ended;
  {
    absl::MutexLock lock(&mu_);
    if (stopped_ || lane->stopped) return;
    tasks_.emplace(when, Task{lane, std::move(task)});
    if (when <= clock_.SteadyNow() || when < timer_) Wake();
    ended.swap(ended_);
  }
  for (std::thread& thread : ended) thread.join();
}

void TaskPool::StopLane(const LanePtr& lane) {
  Tasks dropped;  // Declared before the lock, so that they are destroyed after the unlock.
  absl::MutexLock lock(&mu_);
  lane->stopped = true;
  for (auto it = tasks_.begin(); it != tasks_.end();) {
    const auto task = it++;
    if (task->second.lane == lane) dropped.insert(tasks_.extract(task));
  }
  const auto idle = [&] { return lane->running == 0; };
  mu_.Await(absl::Condition(&idle));
}

void TaskPool::Wake() {
  if (wake_ups_ < idle_) {
    ++wake_ups_;
  } else if (threads_.size() < static_cast<size_t>(max_threads_)) {
    const auto self = threads_.emplace(threads_.end());
    *self = std::thread([this, self] { Work(self); });
  }
}

bool TaskPool::MayRun(const LaneState& lane) const {
  if (!lane.slow) return lane.running < kRunningPerLane;
  return lane.running == 0 && slow_running_ < std::max(1, max_threads_ * 3 / 4);
}

TaskPool::Tasks::iterator TaskPool::NextRunnable(base::SteadyTime now) {
  const auto end = tasks_.upper_bound(now);
  const auto found =
      std::find_if(tasks_.begin(), end, [this](const auto& entry) ABSL_SHARED_LOCKS_REQUIRED(mu_) {
        return MayRun(*entry.second.lane);
      });
  return found == end ? tasks_.end() : found;
}

base::SteadyTime TaskPool::NextTime(base::SteadyTime now) const {
  const auto next = tasks_.upper_bound(now);
  return next == tasks_.end() ? base::SteadyTime::InfiniteFuture() : next->first;
}

bool TaskPool::NeedsThread(base::SteadyTime now) {
  return NextTime(now) < timer_ || NextRunnable(now) != tasks_.end();
}

void TaskPool::Work(Threads::iterator self) {
  absl::MutexLock lock(&mu_);
  base::SteadyTime idle_until = clock_.SteadyNow() + kIdleThreadEnds;
  while (!stopped_) {
    const base::SteadyTime now = clock_.SteadyNow();
    const auto next = NextRunnable(now);
    if (next != tasks_.end()) {
      Task task = std::move(next->second);
      tasks_.erase(next);
      Run(std::move(task));
      idle_until = clock_.SteadyNow() + kIdleThreadEnds;
    } else if (!Wait(now, idle_until)) {
      break;
    }
  }
  ended_.splice(ended_.end(), threads_, self);
}

void TaskPool::Run(Task task) {
  LaneState& lane = *task.lane;
  const bool slow = lane.slow;
  ++lane.running;
  if (slow) ++slow_running_;
  const base::SteadyTime began = clock_.SteadyNow();
  if (NeedsThread(began)) Wake();
  mu_.Unlock();
  task.run();
  task.run = nullptr;  // Must be freed without the lock.
  mu_.Lock();
  if (slow) --slow_running_;
  lane.slow = clock_.SteadyNow() - began > kSlow;
  --lane.running;
}

bool TaskPool::Wait(base::SteadyTime now, base::SteadyTime idle_until) {
  const base::SteadyTime next = NextTime(now);
  const bool keeps_time = next < timer_;
  if (keeps_time) {
    timer_ = next;
    timekeeper_ = &next;
  }
  const auto asked = [this]()
                         ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return stopped_ || wake_ups_ > 0; };
  ++idle_;
  clock_.AwaitUntil(mu_, absl::Condition(&asked), keeps_time ? next : idle_until);
  --idle_;
  if (wake_ups_ > 0) --wake_ups_;
  if (timekeeper_ == &next) {
    timekeeper_ = nullptr;
    timer_ = base::SteadyTime::InfiniteFuture();
  }
  now = clock_.SteadyNow();
  return now < idle_until || NeedsThread(now);
}

void TaskPool::Lane::RunAt(base::SteadyTime when, std::function<void()> task) {
  // Held during the call, so that Stop, and with it the end of the pool, has to wait.
  absl::MutexLock lock(&mu_);
  if (pool_ != nullptr) pool_->RunAt(state_, when, std::move(task));
}

void TaskPool::Lane::Stop() {
  TaskPool* pool;
  {
    absl::MutexLock lock(&mu_);
    pool = pool_;
  }
  if (pool == nullptr) return;
  pool->StopLane(state_);
  absl::MutexLock lock(&mu_);
  pool_ = nullptr;
}

}  // namespace kube::internal
