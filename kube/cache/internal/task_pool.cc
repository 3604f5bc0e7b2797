// Tasks wait in one table, ordered by their times. A thread that has nothing to do looks for a task
// that is due and whose lane may run one more. When there is none it becomes idle: one idle thread,
// the timekeeper, waits for the time of the next task; the others wait to be woken, and end after
// ten seconds. A new task wakes a thread unless the timekeeper waits for this task's time or an
// earlier one. A timekeeper that takes a task stops being the timekeeper, so a thread that begins a
// task wakes another one if a task is left for which no thread waits; otherwise that task would
// have to wait for the end of this one.
//
// A task that has run for two seconds hangs: it gives up its place among the tasks that may run at
// once, and keeps only its thread. Nobody reports that moment, so the timekeeper waits for it too
// while a task is due that may not run.

#include "kube/cache/internal/task_pool.h"

#include <algorithm>
#include <utility>

namespace kube::internal {
namespace {

constexpr int kRunningPerLane = 2;
constexpr absl::Duration kSlow = absl::Seconds(2);
constexpr absl::Duration kIdleThreadEnds = absl::Seconds(10);
// Threads for tasks that hang, as multiples of the tasks that run at once.
constexpr int kHanging = 2;
constexpr int kHangingOfSlow = 1;
// The thread that waits for the time when all others run tasks.
constexpr int kTimekeeper = 1;

}  // namespace

TaskPool::TaskPool(const base::Clock& clock, int max_threads)
    : clock_(clock), max_threads_(max_threads) {}

TaskPool::~TaskPool() {
  Tasks dropped;  // Declared before the lock, so that they are destroyed after the unlock.
  {
    absl::MutexLock lock(&mu_);
    stopped_ = true;
    dropped.swap(tasks_);
  }
  running_.AwaitEnd();
}

int TaskPool::threads() const {
  absl::MutexLock lock(&mu_);
  return threads_;
}

void TaskPool::RunAt(const LanePtr& lane, base::SteadyTime when, std::function<void()> task) {
  absl::MutexLock lock(&mu_);
  if (stopped_ || lane->stopped) return;
  tasks_.emplace(when, Task{lane, std::move(task)});
  if (when <= clock_.SteadyNow() || when < timer_) Wake();
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
  } else if (threads_ < max_threads_ + hanging_ + kTimekeeper) {
    // One that exists looks for the task when it has done its own.
    if (running_.Start(/*others=*/threads_ > 0, [this] { Work(); })) ++threads_;
  }
}

bool TaskPool::MayRun(const LaneState& lane) const {
  if (static_cast<int>(runs_.size()) - hanging_ >= max_threads_) return false;
  if (hanging_ >= max_threads_ * kHanging) return false;
  if (!lane.IsSlow()) return lane.running < kRunningPerLane;
  // Slow lanes run one task at a time, and leave a quarter of the threads to the quick ones.
  if (lane.running > 0 || slow_running_ >= std::max(1, max_threads_ * 3 / 4)) return false;
  return lane.pace != Pace::kSlow || hanging_ < max_threads_ * kHangingOfSlow;
}

void TaskPool::NoteHanging(base::SteadyTime now) {
  for (Run& run : runs_) {
    // They are in the order in which they began.
    if (now - run.began < kSlow) break;
    if (std::exchange(run.hangs, true)) continue;
    ++hanging_;
    ++run.lane->hanging;
    if (run.slow) --slow_running_;
  }
}

TaskPool::Tasks::iterator TaskPool::NextRunnable(base::SteadyTime now) {
  NoteHanging(now);
  const auto end = tasks_.upper_bound(now);
  auto next = tasks_.end();
  for (auto it = tasks_.begin(); it != end; ++it) {
    const LaneState& lane = *it->second.lane;
    if (!MayRun(lane)) continue;
    // Quick lanes go first; slow ones take turns, and the one that has waited longest is the next.
    if (!lane.IsSlow()) return it;
    if (next == tasks_.end() || lane.turn < next->second.lane->turn) next = it;
  }
  return next;
}

base::SteadyTime TaskPool::NextTime(base::SteadyTime now) const {
  const auto next = tasks_.upper_bound(now);
  const base::SteadyTime due =
      next == tasks_.end() ? base::SteadyTime::InfiniteFuture() : next->first;
  if (next == tasks_.begin()) return due;  // No task waits for anything but its time.
  const auto run = std::find_if(runs_.begin(), runs_.end(), [](const Run& r) { return !r.hangs; });
  return run == runs_.end() ? due : std::min(due, run->began + kSlow);
}

bool TaskPool::NeedsThread(base::SteadyTime now) {
  return NextTime(now) < timer_ || NextRunnable(now) != tasks_.end();
}

void TaskPool::Work() {
  absl::MutexLock lock(&mu_);
  base::SteadyTime idle_until = clock_.SteadyNow() + kIdleThreadEnds;
  while (!stopped_) {
    const base::SteadyTime now = clock_.SteadyNow();
    const auto next = NextRunnable(now);
    if (next != tasks_.end()) {
      Task task = std::move(next->second);
      tasks_.erase(next);
      RunTask(std::move(task));
      idle_until = clock_.SteadyNow() + kIdleThreadEnds;
    } else if (!Wait(now, idle_until)) {
      break;
    }
  }
  --threads_;
}

TaskPool::Runs::iterator TaskPool::Begin(const LanePtr& lane, base::SteadyTime now) {
  const bool slow = lane->IsSlow();
  ++lane->running;
  lane->turn = ++turns_;
  if (slow) ++slow_running_;
  return runs_.insert(runs_.end(), {lane, now, slow});
}

void TaskPool::End(Runs::iterator run, base::SteadyTime now) {
  LaneState& lane = *run->lane;
  if (run->hangs) {
    --hanging_;
    --lane.hanging;
  } else if (run->slow) {
    --slow_running_;
  }
  lane.pace = now - run->began > kSlow ? Pace::kSlow : Pace::kQuick;
  --lane.running;
  runs_.erase(run);
}

void TaskPool::RunTask(Task task) {
  const base::SteadyTime began = clock_.SteadyNow();
  const Runs::iterator run = Begin(task.lane, began);
  if (NeedsThread(began)) Wake();
  mu_.Unlock();
  task.run();
  task.run = nullptr;  // Must be freed without the lock.
  mu_.Lock();
  End(run, clock_.SteadyNow());
}

bool TaskPool::Wait(base::SteadyTime now, base::SteadyTime idle_until) {
  const base::SteadyTime next = NextTime(now);
  const bool keeps_time = next < timer_;
  if (keeps_time) {
    timer_ = next;
    // The address tells this thread from one that becomes the timekeeper later.
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
