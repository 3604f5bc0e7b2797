// Runs callbacks at their times: deadlines of requests, bookmarks, the end of watches.
#ifndef BASE_TIMERS_H_
#define BASE_TIMERS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"

namespace base {

// Has one thread. Thread-safe.
class Timers {
 public:
  // REQUIRES: `clock` outlives the object.
  explicit Timers(const Clock& clock);
  ~Timers() { Stop(); }
  Timers(const Timers&) = delete;

  // A callback that waits; for Cancel.
  using Id = std::pair<SteadyTime, uint64_t>;
  // Calls `callback` on the thread, one at a time, when the time has come. It must not block.
  Id Add(SteadyTime when, std::function<void()> callback);
  Id After(absl::Duration delay, std::function<void()> callback);
  // Drops the callback unless it is being called or has been.
  void Cancel(const Id& id);
  // Drops what has not been called, and waits for what runs. Later callbacks are not called.
  void Stop();

 private:
  void Run();

  const Clock& clock_;
  absl::Mutex mu_;
  std::map<Id, std::function<void()>> waiting_ ABSL_GUARDED_BY(mu_);
  uint64_t last_ ABSL_GUARDED_BY(mu_) = 0;
  // What the thread waits for.
  SteadyTime wake_at_ ABSL_GUARDED_BY(mu_) = SteadyTime::InfiniteFuture();
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace base

#endif  // BASE_TIMERS_H_
