#include "kube/http/internal/wake_poll.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kube/http/internal/event_loop.h"

namespace kube {

std::string NoDescriptor() {
  return absl::StrCat("no file descriptor for waiting: ", std::strerror(errno));
}

// An eventfd that this thread keeps for all its calls.
struct WakePoll::Waker {
  ~Waker() {
    if (fd >= 0) close(fd);
  }
  int fd = -1;  // -1 as long as the process has no more descriptors.
  std::atomic<bool> fired = false;
};

WakePoll::Waker& WakePoll::ThreadWaker() {
  thread_local Waker waker;
  if (waker.fd < 0) waker.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return waker;
}

void WakePoll::SetWaker::operator()() const {
  waker->fired = true;
  const uint64_t one = 1;
  static_cast<void>(!write(waker->fd, &one, sizeof one));
}

WakePoll::WakePoll(const base::StopToken& stop)
    : can_stop_(stop.stop_possible()),
      stop_(stop),
      waker_(ThreadWaker()),
      unable_(waker_.fd < 0 ? absl::UnavailableError(NoDescriptor()) : absl::OkStatus()),
      callback_(stop, SetWaker{&waker_}) {}

// Members are destroyed after this body, so the callback may still run; it can then leave a
// needless wake-up, which the next call clears.
WakePoll::~WakePoll() {
  if (!waker_.fired.exchange(false)) return;
  uint64_t ignored = 0;
  static_cast<void>(!read(waker_.fd, &ignored, sizeof ignored));
}

absl::Status WakePoll::Await(int fd, short events, base::SteadyTime look_again,
                             base::SteadyTime deadline) {
  RETURN_IF_ERROR(unable_);  // Without it a stop would not end the wait.
  while (true) {
    if (stop_.stop_requested()) return absl::CancelledError("stopped while waiting for an answer");
    const base::SteadyTime now = SteadyNow();
    if (now >= deadline) return absl::DeadlineExceededError("no answer in time");
    if (now >= look_again) return absl::OkStatus();
    const absl::Duration wait = std::min({look_again, deadline, now + absl::Hours(1)}) - now;
    pollfd fds[] = {{fd, events, 0}, {waker_.fd, POLLIN, 0}};
    const int timeout = static_cast<int>(absl::ToInt64Milliseconds(wait)) + 1;
    if (poll(fds, can_stop_ ? 2 : 1, timeout) > 0 && fds[0].revents != 0) return absl::OkStatus();
    if (!stop_.stop_requested() && fds[1].revents != 0) {
      uint64_t ignored = 0;
      static_cast<void>(!read(waker_.fd, &ignored, sizeof ignored));
    }
  }
}

}  // namespace kube
