// A few threads that run tasks at their times: the lists and the retries of many InformerSets.
#ifndef KUBE_CACHE_INTERNAL_TASK_POOL_H_
#define KUBE_CACHE_INTERNAL_TASK_POOL_H_

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/threads.h"

namespace kube::internal {

// Threads start on demand and end after ten seconds without work. `max_threads` is the number of
// tasks that run at once, not counting those that take more than two seconds: these wait for a
// server rather than for this machine, and get a thread more each, up to three times `max_threads`.
// Thread-safe.
class TaskPool {
 public:
  // The tasks of one server. At most two of them run at once, and only one of a slow lane: one that
  // has run no task yet, or of which a task is taking more than two seconds, or its last one did.
  // All slow lanes together leave a quarter of the threads to the others, and those that are known
  // to be slow leave half of the further threads to those that have run no task yet. Slow lanes
  // take turns. So servers that do not answer delay others by some seconds at most, unless there
  // are more of them than threads.
  class Lane;

  // REQUIRES: `clock` outlives the pool.
  TaskPool(const base::Clock& clock, int max_threads);
  // REQUIRES: all lanes have been stopped.
  ~TaskPool();
  TaskPool(const TaskPool&) = delete;

  int threads() const;

 private:
  enum class Pace { kUnknown, kQuick, kSlow };
  struct LaneState {
    int running = 0;
    int hanging = 0;  // Of those that run.
    Pace pace = Pace::kUnknown;
    uint64_t turn = 0;  // When its last task began, by number.
    bool stopped = false;

    bool IsSlow() const { return pace != Pace::kQuick || hanging > 0; }
  };
  using LanePtr = std::shared_ptr<LaneState>;
  struct Task {
    LanePtr lane;
    std::function<void()> run;
  };
  using Tasks = std::multimap<base::SteadyTime, Task>;
  // A task that runs.
  struct Run {
    LanePtr lane;
    base::SteadyTime began;
    bool slow;           // Its lane was slow when it began.
    bool hangs = false;  // It has taken more than two seconds.
  };
  using Runs = std::list<Run>;

  void RunAt(const LanePtr& lane, base::SteadyTime when, std::function<void()> task);
  void StopLane(const LanePtr& lane);

  void Work();
  void RunTask(Task task) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Runs::iterator Begin(const LanePtr& lane, base::SteadyTime now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void End(Runs::iterator run, base::SteadyTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Finds out which tasks hang at `now`.
  void NoteHanging(base::SteadyTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Waits for something to do that did not exist at `now`. Returns false when the thread is not
  // needed any more: it had nothing to do until `idle_until`, and another one is the timekeeper.
  bool Wait(base::SteadyTime now, base::SteadyTime idle_until) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns a task that is due at `now` and may run, or the end: of a quick lane the first, else
  // the first of the slow lane whose turn it is.
  Tasks::iterator NextRunnable(base::SteadyTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool MayRun(const LaneState& lane) const ABSL_SHARED_LOCKS_REQUIRED(mu_);
  // Returns when to look for a task again if there is none at `now`: when the next one is due, or
  // when one that runs begins to hang and so leaves its place to others.
  base::SteadyTime NextTime(base::SteadyTime now) const ABSL_SHARED_LOCKS_REQUIRED(mu_);
  // Returns whether a task may run at `now`, or NextTime comes before the time that the timekeeper
  // waits for.
  bool NeedsThread(base::SteadyTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Wakes or starts a thread, so that it looks for something to do.
  void Wake() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const base::Clock& clock_;
  const int max_threads_;
  mutable absl::Mutex mu_;
  Tasks tasks_ ABSL_GUARDED_BY(mu_);
  int threads_ ABSL_GUARDED_BY(mu_) = 0;
  int idle_ ABSL_GUARDED_BY(mu_) = 0;
  // How many idle threads have been woken and do not run yet.
  int wake_ups_ ABSL_GUARDED_BY(mu_) = 0;
  Runs runs_ ABSL_GUARDED_BY(mu_);  // In the order in which they began.
  // How many of them hang, and how many of the others belong to slow lanes.
  int hanging_ ABSL_GUARDED_BY(mu_) = 0;
  int slow_running_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t turns_ ABSL_GUARDED_BY(mu_) = 0;
  // The time until which the timekeeper waits; infinite when there is no timekeeper. A task with an
  // earlier time has to wake a thread.
  base::SteadyTime timer_ ABSL_GUARDED_BY(mu_) = base::SteadyTime::InfiniteFuture();
  const void* timekeeper_ ABSL_GUARDED_BY(mu_) = nullptr;  // Identifies the timekeeper.
  bool stopped_ ABSL_GUARDED_BY(mu_) = false;
  base::DetachedThreads running_{"the lists of objects"};
};

// May outlive the pool once it has been stopped. Thread-safe.
class TaskPool::Lane {
 public:
  // REQUIRES: the pool exists until Stop has returned.
  explicit Lane(TaskPool& pool) : state_(std::make_shared<LaneState>()), pool_(&pool) {}
  ~Lane() { Stop(); }
  Lane(const Lane&) = delete;

  // Runs `task` when the time `when` has come, or at once if it is past. After Stop the task is
  // dropped.
  void RunAt(base::SteadyTime when, std::function<void()> task) ABSL_LOCKS_EXCLUDED(mu_);
  // Drops the lane's tasks that have not begun and waits for those that run. Idempotent. REQUIRES:
  // not called from a task of this lane.
  void Stop() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  const LanePtr state_;
  absl::Mutex mu_;                       // Locked before the pool's.
  TaskPool* pool_ ABSL_GUARDED_BY(mu_);  // Null when the lane has been stopped.
};

}  // namespace kube::internal

#endif  // KUBE_CACHE_INTERNAL_TASK_POOL_H_
