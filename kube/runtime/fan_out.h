// Runs the parts of one pass at the same time, such as the writes of a binding over 100 clusters.
//
//   return fan_out_.Run(targets.size(), [&](size_t i) { return Write(targets[i], stop); });
#ifndef KUBE_RUNTIME_FAN_OUT_H_
#define KUBE_RUNTIME_FAN_OUT_H_

#include <cstddef>
#include <functional>
#include <list>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "base/threads.h"

namespace kube {

// Threads start on demand, are shared by all calls, and end after ten seconds without work.
// Thread-safe.
class FanOut {
 public:
  // The most threads beside those of the callers, for all calls of Run together. How many requests
  // one API server gets at once is limited by its Client in any case.
  static constexpr int kMaxThreads = 15;
  // A thread takes part in a call for each this many parts, because waking a thread costs about as
  // much as a part that writes nothing. Fewer parts are run by the caller alone.
  static constexpr size_t kPartsPerThread = 4;

  // `parts_per_thread` is 1 if every part waits for a server. REQUIRES: `clock` outlives this
  // object.
  explicit FanOut(const base::Clock& clock, int max_threads = kMaxThreads,
                  size_t parts_per_thread = kPartsPerThread);
  // REQUIRES: no call of Run is under way.
  ~FanOut();
  FanOut(const FanOut&) = delete;

  using Part = std::function<absl::Status(size_t index)>;
  // Calls part(0) to part(count - 1), each once, on this thread and on others that are free, and
  // returns when all have returned. A part that fails does not keep back the others: the result has
  // the errors of all parts in their order (base::ErrorList). It is kCancelled alone if a part was
  // cancelled; parts that have not begun by then are not run. The first exception of a part is
  // thrown again here. What a part reads from a cache counts as read by the caller (ReadScope).
  absl::Status Run(size_t count, const Part& part);

 private:
  struct Call;

  // Opens the call to `threads` other threads at most.
  void Open(Call& call, size_t threads);
  // Returns false when the system has no thread left; then the callers do with what there is.
  bool StartThread() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Closes the call and waits until no other thread works on it.
  void Close(Call& call);
  // Returns the first call that another thread may join, or nullptr.
  Call* Joinable() const ABSL_SHARED_LOCKS_REQUIRED(mu_);
  void Loop();

  const base::Clock& clock_;
  const size_t max_threads_;
  const size_t parts_per_thread_;
  absl::Mutex mu_;
  std::list<Call*> open_ ABSL_GUARDED_BY(mu_);
  size_t threads_ ABSL_GUARDED_BY(mu_) = 0;
  size_t idle_ ABSL_GUARDED_BY(mu_) = 0;
  bool stopped_ ABSL_GUARDED_BY(mu_) = false;
  base::DetachedThreads running_{"the parts of a pass"};
};

}  // namespace kube

#endif  // KUBE_RUNTIME_FAN_OUT_H_
