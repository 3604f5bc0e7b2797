// Keeps the connections to one server between requests.
#ifndef KUBE_HTTP_INTERNAL_CONNECTION_POOL_H_
#define KUBE_HTTP_INTERNAL_CONNECTION_POOL_H_

#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "kube/http/internal/connection.h"
#include "kube/http/internal/event_loop.h"

namespace kube {

// Thread-safe.
class ConnectionPool : public std::enable_shared_from_this<ConnectionPool> {
 public:
  // The limit of connections, in use and idle together: a new one is made only when none is idle.
  static constexpr int kMaxConnections = 100;
  // The longest time that a connection is kept idle: servers close idle connections after minutes,
  // and each costs both sides some 30 kB.
  static constexpr absl::Duration kMaxIdle = absl::Seconds(30);

  explicit ConnectionPool(std::shared_ptr<EventLoop> loop) : loop_(std::move(loop)) {}

  // Takes a place for one request. Returns the kept connection that was used last; null if there is
  // none, and then the caller makes one. Each success must be followed by one Give(). Waits while
  // all places are taken: kDeadlineExceeded, kCancelled.
  absl::StatusOr<std::unique_ptr<Connection>> Take(base::SteadyTime deadline,
                                                   const base::StopToken& stop);
  // Gives the place back. Null means that the connection cannot be used again.
  void Give(std::unique_ptr<Connection> connection);

  // The same without places and waiting, for callers that limit themselves.
  std::unique_ptr<Connection> TakeIdle();
  void Keep(std::unique_ptr<Connection> connection);

 private:
  struct Idle {
    std::unique_ptr<Connection> connection;
    base::SteadyTime since;
  };
  class Sweeper;

  absl::Status TakePlace(base::SteadyTime deadline, const base::StopToken& stop);
  // Returns whether the caller has to call StartSweeping, without the lock.
  bool Store(std::unique_ptr<Connection> connection) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void StartSweeping();
  // Closes connections that have been idle for too long. Returns when to call it again;
  // InfiniteFuture when none is left.
  base::SteadyTime Sweep();

  const std::shared_ptr<EventLoop> loop_;
  absl::Mutex mu_;
  int in_use_ ABSL_GUARDED_BY(mu_) = 0;
  std::vector<Idle> idle_ ABSL_GUARDED_BY(mu_);  // The one that was used last is at the end.
  bool sweeping_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace kube

#endif  // KUBE_HTTP_INTERNAL_CONNECTION_POOL_H_
