// Starts threads, and says so when the system has none left.
//
// A process that reaches its limit of threads (of its container or of its user) must not end for it
// where other threads can do the work; where none can, it has to end with a line that names the
// limit.
#ifndef BASE_THREADS_H_
#define BASE_THREADS_H_

#include <functional>
#include <map>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"

namespace base {

// kResourceExhausted when the system has no thread left; the message names the limits.
absl::StatusOr<std::thread> TryStartThread(std::function<void()> run);

// Starts a thread that nothing can replace. If the system has none left, the process ends with code
// 1 and one line in the log. `what` says what the thread is for ("the timers").
std::thread StartThread(absl::string_view what, std::function<void()> run);

// Threads that end when they have nothing to do. A thread joins the one that ended before it, so
// that of all that have ended only the last is left. Thread-safe.
//
// Whoever has awaited the end finds none left: also what a thread destroys last, the objects that
// belong to it, is gone. OpenSSL keeps such objects for every thread that has used it, and the
// process crashes when one destroys them while the process ends.
class ThreadCrew {
 public:
  // `what` says what the threads are for ("the lists of objects").
  explicit ThreadCrew(absl::string_view what) : what_(what) {}
  ~ThreadCrew() { AwaitEnd(); }
  ThreadCrew(const ThreadCrew&) = delete;

  // Runs `run` on a thread of its own. Returns false when the system has no thread left and
  // `others` says that other threads will do the work; without others the process then ends, as by
  // StartThread.
  bool Start(bool others, std::function<void()> run) ABSL_LOCKS_EXCLUDED(mu_);
  // Waits until all have ended, also those that others start meanwhile. No thread of this object
  // may call it.
  void AwaitEnd() { AwaitEndUntil(SteadyTime::InfiniteFuture()); }
  // The same, at most until `deadline` (of the real clock); returns whether all have ended.
  bool AwaitEndUntil(SteadyTime deadline) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void End() ABSL_LOCKS_EXCLUDED(mu_);
  void Join(std::thread thread) ABSL_LOCKS_EXCLUDED(mu_);

  const absl::string_view what_;
  absl::Mutex mu_;
  int unjoined_ ABSL_GUARDED_BY(mu_) = 0;
  std::map<std::thread::id, std::thread> running_ ABSL_GUARDED_BY(mu_);
  std::thread last_ended_ ABSL_GUARDED_BY(mu_);  // It does no more than to end.
};

}  // namespace base

#endif  // BASE_THREADS_H_
