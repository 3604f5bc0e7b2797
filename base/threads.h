// Starts threads, and says so when the system has none left.
//
// A process that reaches its limit of threads (of its container or of its user) must not end for it
// where other threads can do the work; where none can, it has to end with a line that names the
// limit.
#ifndef BASE_THREADS_H_
#define BASE_THREADS_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace base {

// kResourceExhausted when the system has no thread left; the message names the limits.
absl::StatusOr<std::thread> TryStartThread(std::function<void()> run);

// Starts a thread that nothing can replace. If the system has none left, the process ends with code
// 1 and one line in the log. `what` says what the thread is for ("the timers").
std::thread StartThread(absl::string_view what, std::function<void()> run);

// Threads that end when they have nothing to do and that nobody joins, so that nothing is left of
// one that has ended. One has ended when the objects that belong to it are destroyed as well, also
// those of libraries: OpenSSL frees the objects of all threads at the exit of the process, which
// must not meet a thread that is just doing so. Thread-safe.
class DetachedThreads {
 public:
  // `what` says what the threads are for ("the lists of objects").
  explicit DetachedThreads(absl::string_view what) : what_(what) {}
  ~DetachedThreads() { AwaitEnd(); }
  DetachedThreads(const DetachedThreads&) = delete;

  // Runs `run` on a thread of its own. Returns false when the system has no thread left and
  // `others` says that other threads will do the work; without others the process then ends, as by
  // StartThread.
  bool Start(bool others, std::function<void()> run);
  // Waits until all have ended, also those that others start meanwhile.
  void AwaitEnd();
  // The same, for `patience` at most. Returns false when some have not ended.
  bool AwaitEndFor(absl::Duration patience);

 private:
  struct Ending;

  // Counts one thread that has ended: the last access to this object.
  void CountEnded();

  const absl::string_view what_;
  // Not those of Abseil, which keep an object for each thread that locks or waits: by the time that
  // a thread is counted, its objects are gone.
  std::mutex mu_;
  std::condition_variable ended_;
  int running_ = 0;  // Guarded by mu_.
};

}  // namespace base

#endif  // BASE_THREADS_H_
