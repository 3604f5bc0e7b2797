// A place where one request, or one answer, waits until a test lets it go on.
#ifndef SANDBOX_HTTP_HOLD_H_
#define SANDBOX_HTTP_HOLD_H_

#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace sandbox {

// Is used once. No thread of the server waits with it. A server that stops, is partitioned or
// restored drops what waits. Thread-safe.
class Hold {
 public:
  Hold() = default;
  Hold(const Hold&) = delete;

  // Lets go on what waits, on this thread: when this returns, the request has been executed, or the
  // answer has been given to the connection. What arrives only later does not wait. REQUIRES: the
  // caller holds no lock that a function of Interference takes.
  void Release();
  // Ends what waits, or arrives later: its connection is closed, and what has not been executed
  // never will be. Waits for a Release on another thread. Does nothing to what was released.
  void Drop();
  // Whether something waits here at the moment. A request arrives right after OnRequest, an answer
  // right after OnExecuted.
  bool waits() const;

  // For the server. Keeps `go_on` until Release or Drop calls it once with what is to be done; at
  // once if one of them was called before.
  void Arrive(std::function<void(bool released)> go_on);

 private:
  enum class State { kEmpty, kWaiting, kReleased, kDropped };
  void End(State state);

  mutable absl::Mutex mu_;
  State state_ ABSL_GUARDED_BY(mu_) = State::kEmpty;
  std::function<void(bool)> go_on_ ABSL_GUARDED_BY(mu_);
  std::thread::id runner_ ABSL_GUARDED_BY(mu_);  // Who calls go_on_ at the moment.
};

}  // namespace sandbox

#endif  // SANDBOX_HTTP_HOLD_H_
