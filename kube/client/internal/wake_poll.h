// Waiting for one socket on the caller's own thread.
#ifndef KUBE_CLIENT_INTERNAL_WAKE_POLL_H_
#define KUBE_CLIENT_INTERNAL_WAKE_POLL_H_

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/stop_token.h"

namespace kube {

// "no file descriptor for waiting: Too many open files", by errno.
std::string NoDescriptor();

// Wakes this thread when a stop is requested. One at a time for each thread.
class WakePoll {
 public:
  explicit WakePoll(const base::StopToken& stop);
  ~WakePoll();
  WakePoll(const WakePoll&) = delete;

  // Waits until `fd` is ready for `events` (POLLIN, POLLOUT) or `look_again` has come: OK for both;
  // kDeadlineExceeded, kCancelled; kUnavailable when the process has no file descriptor for it.
  // Times are SteadyNow's.
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

#endif  // KUBE_CLIENT_INTERNAL_WAKE_POLL_H_
