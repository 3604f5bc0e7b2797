// The thread on which everything simulated runs: one per fleet, with timers. Nothing polls.
#ifndef SANDBOX_SIM_EVENT_LOOP_H_
#define SANDBOX_SIM_EVENT_LOOP_H_

#include <cstdint>
#include <functional>
#include <map>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"

namespace sandbox {

// Runs tasks one at a time, in the order in which they fall due. Thread-safe.
class EventLoop {
 public:
  explicit EventLoop(const base::Clock& clock = base::RealClock());
  // Waits for the running task; drops the others.
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  const base::Clock& clock() const { return clock_; }

  // Runs `task` on the loop's thread after `delay`. `owner` identifies it for Forget(). After
  // Stop() the task is dropped.
  void Post(const void* owner, std::function<void()> task, absl::Duration delay = {});
  // Runs `task` on the loop's thread after those that are due, and returns when it has ended.
  // REQUIRES: neither stopped meanwhile nor called on the loop's thread.
  void RunAlone(const std::function<void()>& task);
  // Drops the owner's tasks and, when called from another thread, waits for its running one.
  void Forget(const void* owner);
  // Returns when no task runs and none is due, except tasks with a later time. REQUIRES: not called
  // on the loop's thread.
  void WaitIdle();
  // Ends the thread; returns when the running task is done. Idempotent.
  void Stop();

 private:
  struct Task {
    const void* owner = nullptr;
    std::function<void()> run;
  };
  // The time at which a task is due, then the order of posting.
  using Due = std::pair<base::SteadyTime, int64_t>;

  void Run();
  // Waits for the next due task; returns false when stopped.
  bool Next(Task& task);
  bool IsIdle() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool SomethingChanged() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const base::Clock& clock_;
  absl::Mutex mu_;
  std::map<Due, Task> tasks_ ABSL_GUARDED_BY(mu_);
  int64_t posted_ ABSL_GUARDED_BY(mu_) = 0;
  const void* running_ ABSL_GUARDED_BY(mu_) = nullptr;
  bool stopped_ ABSL_GUARDED_BY(mu_) = false;
  // Next() waits for a stop, or for a task that is due before this.
  base::SteadyTime wake_at_ ABSL_GUARDED_BY(mu_) = base::SteadyTime::InfiniteFuture();
  std::thread thread_;
};

}  // namespace sandbox

#endif  // SANDBOX_SIM_EVENT_LOOP_H_
