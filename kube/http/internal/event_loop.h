// A thread that waits for many sockets: one for all watches of this process, of all servers, and
// one for all forwarded requests.
#ifndef KUBE_HTTP_INTERNAL_EVENT_LOOP_H_
#define KUBE_HTTP_INTERNAL_EVENT_LOOP_H_

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "base/clock.h"

namespace kube {

inline base::SteadyTime SteadyNow() { return base::RealClock().SteadyNow(); }

// The functions that may be used on the loop's thread, and nowhere else.
class Reactor {
 public:
  // Something that has a socket, a timer or both. Its functions must not block.
  class Source {
   public:
    virtual ~Source() = default;
    virtual void OnReady(Reactor& reactor) = 0;  // The socket is ready, or broken.
    virtual void OnTimer(Reactor& reactor) = 0;
  };

  virtual ~Reactor() = default;
  // What a source waits for.
  struct Interest {
    int fd = -1;
    // Distinguishes sockets of the source, because the number of a closed one may be in use again.
    int socket = 0;
    short events = 0;  // POLLIN or POLLOUT.
  };

  // Replaces what the source waited for before. The reactor owns the source until Remove().
  // kUnavailable when the system cannot wait for one more socket; then OnReady() is not called.
  virtual absl::Status Watch(const std::shared_ptr<Source>& source, const Interest& interest) = 0;
  // Calls OnTimer() once at `at` (SteadyNow's time); replaces an earlier timer.
  virtual void SetTimer(const std::shared_ptr<Source>& source, base::SteadyTime at) = 0;
  // REQUIRES: called before the socket is closed. No function of the source is called afterwards.
  virtual void Remove(Source* source) = 0;
  // Returns memory for reading that all sources share.
  virtual absl::Span<char> scratch() = 0;
};

class EventLoop {
 public:
  // Returns the loop of this process. Its thread starts at the first Post(), and ends when nobody
  // owns the loop any more, after everything that was posted has run.
  static std::shared_ptr<EventLoop> Shared();
  // Returns the loop of this process for forwarded requests, with a thread of its own. Somebody
  // waits for each of its events, so it handles them at once instead of several together.
  static std::shared_ptr<EventLoop> Prompt();
  virtual ~EventLoop() = default;

  // Runs `function` on the thread, after everything that was posted before. Thread-safe.
  virtual void Post(std::function<void(Reactor&)> function) = 0;
  virtual bool OnThread() const = 0;
};

}  // namespace kube

#endif  // KUBE_HTTP_INTERNAL_EVENT_LOOP_H_
