// Starts and stops everything in order: servers, caches, leader election, then the loops; on a stop
// the loops drain first and servers go last.
#ifndef KUBE_RUNTIME_MANAGER_H_
#define KUBE_RUNTIME_MANAGER_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/stop_token.h"
#include "kube/cache/cluster_client.h"

namespace kube {

class EventSink;

// Something that runs until stopped. Each Run has a thread of its own.
class Runnable {
 public:
  virtual ~Runnable() = default;
  virtual std::string name() const = 0;
  // Called once before Run. All of a group are prepared before any of them runs, so that none
  // misses what another one causes. It must not block.
  virtual void Prepare() {}
  // Returns when stopped (OK) or when it cannot go on (an error, which stops the manager).
  virtual absl::Status Run(const base::StopToken& stop) = 0;
  // Called before each scrape of /metrics, on a server's thread: for gauges that time alone moves.
  virtual void UpdateMetrics() {}
};

struct ManagerOptions {
  std::string health_address = ":10357";  // "" or "0": none. /healthz, /readyz, /livez
  std::string metrics_address = ":8080";  // "" or "0": none. /metrics
  bool leader_elect = true;
  std::string lease_namespace, lease_name;
  std::string identity;  // Empty: <hostname>_<uuid>.
  absl::Duration lease_duration = absl::Seconds(15);
  absl::Duration renew_deadline = absl::Seconds(10);
  absl::Duration retry_period = absl::Seconds(2);
  absl::Duration cache_sync_timeout = absl::Minutes(2);
  absl::Duration graceful_stop = absl::Seconds(30);  // Limits the stop of everything together.
};

// Thread-safe.
class Manager {
 public:
  // REQUIRES: all outlive the manager.
  Manager(ManagerOptions options, ClusterClient& cluster, EventSink& events,
          const base::Clock& clock, metrics::Registry& registry);
  ~Manager();

  ClusterClient& cluster();
  EventSink& events();
  const base::Clock& clock() const;
  metrics::Registry& registry();
  const ManagerOptions& options() const;

  // What the lease is read and written through, instead of cluster().raw(). A client of its own,
  // with a transport of its own, keeps the renewals out of the queue for connections, concurrency
  // and rate in which the loops' calls wait when the server is slow. REQUIRES: before Run; the
  // client outlives the manager.
  void UseForElection(Client& client);

  enum class Group { kAlways, kLeader };
  // Is called before Run, or later (then it starts at once if its group runs).
  void Add(std::unique_ptr<Runnable> runnable, Group group = Group::kLeader);

  // Blocks until `stop`, a lost lease (kAborted) or a failed runnable. All threads have ended on
  // return, unless the graceful period was exceeded: then the code is always kDeadlineExceeded, the
  // message names who still runs (after the failure, if there was one), and the destructor would
  // wait for them. Call it once. kInvalidArgument: timings of the election;
  // kUnavailable: an address cannot be bound.
  absl::Status Run(const base::StopToken& stop);
  // True without leader election, too.
  bool IsLeader() const;
  // Stopped when work in progress must end at once: the lease was lost, or two thirds of the
  // graceful period have gone by.
  base::StopToken abort_token() const;
  // Where the servers listen, for addresses with port 0; 0 while (or when) there is no server.
  int health_port() const;
  int metrics_port() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kube

#endif  // KUBE_RUNTIME_MANAGER_H_
