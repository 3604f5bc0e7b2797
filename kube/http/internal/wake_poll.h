// Waits for one socket on the caller's own thread.
#ifndef KUBE_HTTP_INTERNAL_WAKE_POLL_H_
#define KUBE_HTTP_INTERNAL_WAKE_POLL_H_

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/stop_token.h"

namespace kube {

// Returns "no file descriptor for waiting: Too many open files", depending on errno.
std::string NoDescriptor();

// Wakes this thread when a stop is requested. A thread may have one at a time.
class WakePoll {
 public:
  explicit WakePoll(const base::StopToken& stop);
  ~WakePoll();
  WakePoll(const WakePoll&) = delete;

  // Waits until `fd` is ready for `events` (POLLIN, POLLOUT) or until `look_again`: OK for both;
  // kDeadlineExceeded, kCancelled; kUnavailable when the process has no file descriptor for the
  // wait. Times are SteadyNow's.
  absl::Status Await(int fd, short events, base::SteadyTime look_again, base::SteadyTime deadline);

 private:
  struct Waker;
  struct SetWaker {
    Waker* waker;
    void operator()() const;
  };
  static Waker& ThreadWaker();

  const bool can_stop_;
  const base::StopToken stop_;
  Waker& waker_;
  const absl::Status unable_;
  const base::StopCallback<SetWaker> callback_;
};

}  // namespace kube

#endif  // KUBE_HTTP_INTERNAL_WAKE_POLL_H_
