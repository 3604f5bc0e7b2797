// The connections to one server that are kept between requests.
#ifndef KUBE_CLIENT_INTERNAL_CONNECTION_POOL_H_
#define KUBE_CLIENT_INTERNAL_CONNECTION_POOL_H_

#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "kube/client/internal/connection.h"
#include "kube/client/internal/event_loop.h"

namespace kube {

// Thread-safe.
class ConnectionPool : public std::enable_shared_from_this<ConnectionPool> {
 public:
  // Connections in use and kept.
  static constexpr int kMaxConnections = 100;
  // Servers close idle connections after minutes; an idle one costs both sides some 30 kB.
  static constexpr absl::Duration kMaxIdle = absl::Seconds(30);

  explicit ConnectionPool(std::shared_ptr<EventLoop> loop) : loop_(std::move(loop)) {}

  // A place for one request, and the connection that was used last if one is kept, else null: the
  // caller makes one. Each success is followed by one Give(). Waits while all places are taken:
  // kDeadlineExceeded, kCancelled.
  absl::StatusOr<std::unique_ptr<Connection>> Take(base::SteadyTime deadline,
                                                   const base::StopToken& stop);
  // Gives the place back; null: the connection is not to be used again.
  void Give(std::unique_ptr<Connection> connection);

 private:
  struct Idle {
    std::unique_ptr<Connection> connection;
    base::SteadyTime since;
  };
  class Sweeper;

  absl::Status TakePlace(base::SteadyTime deadline, const base::StopToken& stop);
  // Closes what has been idle for too long. When to look again; InfiniteFuture when nothing is
  // left.
  base::SteadyTime Sweep();

  const std::shared_ptr<EventLoop> loop_;
  absl::Mutex mu_;
  int in_use_ ABSL_GUARDED_BY(mu_) = 0;
  std::vector<Idle> idle_ ABSL_GUARDED_BY(mu_);  // The one that was used last comes last.
  bool sweeping_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace kube

#endif  // KUBE_CLIENT_INTERNAL_CONNECTION_POOL_H_
