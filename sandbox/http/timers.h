// Runs callbacks later: bookmarks, the end of watches, injected latency. A server has one thread
// for them.
#ifndef SANDBOX_HTTP_TIMERS_H_
#define SANDBOX_HTTP_TIMERS_H_

#include <functional>
#include <map>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"

namespace sandbox {

// Thread-safe. Callbacks run on the timers' thread, one at a time, and must not block.
class Timers {
 public:
  explicit Timers(const base::Clock& clock);
  ~Timers() { Stop(); }
  void After(absl::Duration delay, std::function<void()> callback);
  // Drops waiting callbacks and joins the thread; later calls of After do nothing.
  void Stop();

 private:
  void Run();

  const base::Clock& clock_;
  absl::Mutex mu_;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  base::SteadyTime wake_at_ ABSL_GUARDED_BY(mu_) = base::SteadyTime::InfiniteFuture();
  std::multimap<base::SteadyTime, std::function<void()>> waiting_ ABSL_GUARDED_BY(mu_);
  std::thread thread_;
};

}  // namespace sandbox

#endif  // SANDBOX_HTTP_TIMERS_H_
