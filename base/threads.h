// Starts threads, and says so when the system has none left.
//
// A process that reaches its limit of threads (of its container or of its user) must not end for it
// where other threads can do the work; where none can, it has to end with a line that names the
// limit.
#ifndef BASE_THREADS_H_
#define BASE_THREADS_H_

#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"

namespace base {

// kResourceExhausted when the system has no thread left; the message names the limits.
absl::StatusOr<std::thread> TryStartThread(std::function<void()> run);

// Starts a thread that nothing can replace. If the system has none left, the process ends with code
// 1 and one line in the log. `what` says what the thread is for ("the timers").
std::thread StartThread(absl::string_view what, std::function<void()> run);

// Threads that end when they have nothing to do and that nobody joins, so that nothing is left of
// one that has ended. Thread-safe.
class DetachedThreads {
 public:
  // `what` says what the threads are for ("the lists of objects").
  explicit DetachedThreads(absl::string_view what) : what_(what) {}
  ~DetachedThreads() { AwaitEnd(); }
  DetachedThreads(const DetachedThreads&) = delete;

  // Runs `run` on a thread of its own. Returns false when the system has no thread left and
  // `others` says that other threads will do the work; without others the process then ends, as by
  // StartThread.
  bool Start(bool others, std::function<void()> run) ABSL_LOCKS_EXCLUDED(mu_);
  // Waits until all have ended, also those that others start meanwhile.
  void AwaitEnd() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  const absl::string_view what_;
  absl::Mutex mu_;
  int running_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace base

#endif  // BASE_THREADS_H_
