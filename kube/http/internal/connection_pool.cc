// A connection is in use, idle or closed. Take first waits for one of the places for connections in
// use. It then takes the connection that became idle last; one on which something has arrived in
// the meantime is closed, and the next one is tried. Give frees the place in any case, and makes
// the connection idle unless it is null.
//
// The first connection that becomes idle puts a Sweeper on the event loop. The sweeper closes what
// has been idle for 30 s and begins again when the next connection is due; it ends when none is
// idle, or the pool is gone, and the next Give starts another one. mu_ guards the count and the
// idle connections, which are in the order of their times. Connections are closed without the lock.

#include "kube/http/internal/connection_pool.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/status.h"
#include "base/stop_flag.h"

namespace kube {

// Runs on the loop's thread as long as the pool keeps connections.
class ConnectionPool::Sweeper : public Reactor::Source,
                                public std::enable_shared_from_this<Sweeper> {
 public:
  explicit Sweeper(std::weak_ptr<ConnectionPool> pool) : pool_(std::move(pool)) {}

  void OnReady(Reactor&) override {}
  void OnTimer(Reactor& reactor) override {
    const std::shared_ptr<ConnectionPool> pool = pool_.lock();
    const base::SteadyTime again =
        pool == nullptr ? base::SteadyTime::InfiniteFuture() : pool->Sweep();
    if (again == base::SteadyTime::InfiniteFuture()) {
      reactor.Remove(this);
    } else {
      reactor.SetTimer(shared_from_this(), again);
    }
  }

 private:
  const std::weak_ptr<ConnectionPool> pool_;
};

absl::Status ConnectionPool::TakePlace(base::SteadyTime deadline, const base::StopToken& stop) {
  {
    absl::MutexLock lock(&mu_);
    if (in_use_ < kMaxConnections) {
      ++in_use_;
      return absl::OkStatus();
    }
  }
  const base::StopFlag stopped(mu_, stop);
  absl::MutexLock lock(&mu_);
  auto ready = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return stopped.IsSet() || in_use_ < kMaxConnections;
  };
  if (!base::RealClock().AwaitUntil(mu_, absl::Condition(&ready), deadline)) {
    return absl::DeadlineExceededError("waiting for a free connection");
  }
  if (stopped.IsSet()) return absl::CancelledError("stopped while waiting for a free connection");
  ++in_use_;
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Connection>> ConnectionPool::Take(base::SteadyTime deadline,
                                                                 const base::StopToken& stop) {
  RETURN_IF_ERROR(TakePlace(deadline, stop));
  return TakeIdle();
}

std::unique_ptr<Connection> ConnectionPool::TakeIdle() {
  while (true) {
    std::unique_ptr<Connection> connection;
    {
      absl::MutexLock lock(&mu_);
      if (idle_.empty()) return connection;
      connection = std::move(idle_.back().connection);
      idle_.pop_back();
    }
    if (connection->IsQuiet()) return connection;
  }
}

void ConnectionPool::Give(std::unique_ptr<Connection> connection) {
  bool start_sweeping = false;
  {
    // Who waits for the place finds the connection, too.
    absl::MutexLock lock(&mu_);
    --in_use_;
    if (connection != nullptr) start_sweeping = Store(std::move(connection));
  }
  if (start_sweeping) StartSweeping();
}

void ConnectionPool::Keep(std::unique_ptr<Connection> connection) {
  bool start_sweeping = false;
  {
    absl::MutexLock lock(&mu_);
    start_sweeping = Store(std::move(connection));
  }
  if (start_sweeping) StartSweeping();
}

bool ConnectionPool::Store(std::unique_ptr<Connection> connection) {
  idle_.push_back({std::move(connection), SteadyNow()});
  return !std::exchange(sweeping_, true);
}

void ConnectionPool::StartSweeping() {
  loop_->Post([sweeper = std::make_shared<Sweeper>(weak_from_this())](Reactor& reactor) {
    reactor.SetTimer(sweeper, SteadyNow() + kMaxIdle);
  });
}

base::SteadyTime ConnectionPool::Sweep() {
  // Declared before the lock, because closing a connection sends a close notification.
  std::vector<Idle> closed;
  absl::MutexLock lock(&mu_);
  const base::SteadyTime oldest = SteadyNow() - kMaxIdle;
  const auto keep = std::find_if(idle_.begin(), idle_.end(),
                                 [&](const Idle& idle) { return idle.since > oldest; });
  std::move(idle_.begin(), keep, std::back_inserter(closed));
  idle_.erase(idle_.begin(), keep);
  sweeping_ = !idle_.empty();
  return sweeping_ ? idle_.front().since + kMaxIdle : base::SteadyTime::InfiniteFuture();
}

}  // namespace kube
