// Starts and stops everything in order: servers, caches, leader election, then the loops; on a stop
// the loops finish their work first and the servers end last.
#ifndef KUBE_RUNTIME_MANAGER_H_
#define KUBE_RUNTIME_MANAGER_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/stop_token.h"
#include "kube/cache/cluster_client.h"

namespace kube {

class EventSink;
class FailingKeys;
class LeaderFence;
class WorkerPool;

// Something that runs until it is stopped. Each Run has a thread of its own, but that of a
// PooledRunnable.
class Runnable {
 public:
  virtual ~Runnable() = default;
  virtual std::string name() const = 0;
  // Called once before Run. All runnables of a group are prepared before any of them runs, so that
  // none misses events that another one causes. It must not block.
  virtual void Prepare() {}
  // Returns when stopped (OK) or when it cannot go on (an error, which stops the manager).
  virtual absl::Status Run(const base::StopToken& stop) = 0;
  // Called before each scrape of /metrics, on a server's thread, to update gauges that change with
  // time alone.
  virtual void UpdateMetrics() {}
  // Returns whether it has nothing to do now: nothing is due, and nothing is being worked on. What
  // waits for a time does not count. Called on any thread, also before and after Run.
  virtual bool IsIdle() const { return true; }
  // Returns the keys whose last pass failed; nullptr if it has no keys, or if another runnable
  // returns them. As IsIdle, called on any thread.
  virtual const FailingKeys* failing() const { return nullptr; }
};

// A runnable that holds no thread while it has nothing to do.
class PooledRunnable : public Runnable {
 public:
  // Called with what Run would return.
  using Ended = std::function<void(const absl::Status& status)>;
  // Does what Run does, on threads of the pool, and returns at once. `ended` is called once, on any
  // thread and perhaps before this returns; that is the last access to the runnable. REQUIRES: the
  // pool outlives the run.
  virtual void RunOn(WorkerPool& pool, const base::StopToken& stop, Ended ended) = 0;
};

struct ManagerOptions {
  // Serves /healthz, /readyz and /livez; "" or "0": no server.
  std::string health_address = ":10357";
  std::string metrics_address = ":8080";  // Serves /metrics; "" or "0": no server.
  bool leader_elect = true;
  // Without an election the name, unless it is empty, is for leader_election_master_status only,
  // which is 1 then: an alert of no leader must not be about a process that leads unopposed.
  // Upstream's process has no such series then.
  std::string lease_namespace, lease_name;
  std::string identity;  // Empty stands for <hostname>_<uuid>.
  absl::Duration lease_duration = absl::Seconds(15);
  absl::Duration renew_deadline = absl::Seconds(10);
  absl::Duration retry_period = absl::Seconds(2);
  // Whether the lease is given up after a stop, once everything of the leader has ended; otherwise
  // a stand-by waits until it expires. A stand-by with this option watches the lease, and leads as
  // soon as it is given up.
  bool release_lease = false;
  // Whether a stand-by watches the lease in any case, so that it knows at once of each renewal, and
  // leads when the last one is as old as the lease.
  bool watch_lease = false;
  // How long a controller waits for the caches that it needs. A cache of which a page has come
  // within this time is waited for further.
  absl::Duration cache_sync_timeout = absl::Minutes(2);
  absl::Duration graceful_stop = absl::Seconds(30);  // Limits the time of the whole stop.
  // The lease bears the name of this process alone, and says that it lives: if it is removed, it is
  // lost.
  bool lease_is_own = false;
};

// Thread-safe.
class Manager {
 public:
  // REQUIRES: all arguments outlive the manager.
  Manager(ManagerOptions options, ClusterClient& cluster, EventSink& events,
          const base::Clock& clock, metrics::Registry& registry);
  ~Manager();

  ClusterClient& cluster();
  EventSink& events();
  const base::Clock& clock() const;
  metrics::Registry& registry();
  const ManagerOptions& options() const;

  // Makes the election use `client` for the lease instead of cluster().raw(). A client with a
  // transport of its own keeps the renewals out of the queues for connections, concurrency and rate
  // in which the loops' calls wait when the server is slow. REQUIRES: called before Run; the client
  // outlives the manager.
  void UseForElection(Client& client);

  // Has the election tell `fence` until when the lease is held. REQUIRES: called before Run; the
  // fence outlives the manager.
  void UseFence(LeaderFence& fence);

  // Has the pooled runnables work on these threads, which several managers may share. Otherwise the
  // manager has a pool of its own. REQUIRES: called before Run; the pool has the manager's clock.
  void UsePool(std::shared_ptr<WorkerPool> pool);
  WorkerPool& pool();

  // Serves `page`, as JSON, at `path` beside /metrics. It is called for each request, on a server's
  // thread. REQUIRES: called before Run.
  void ServeBesideMetrics(std::string path, std::function<std::string()> page);

  enum class Group { kAlways, kLeader };
  // Adds a runnable that starts with its group. After Run has started the group, it starts at once.
  void Add(std::unique_ptr<Runnable> runnable, Group group = Group::kLeader);

  // A key that could not be looked at, or what is due for it not be done, the last time.
  struct Failure {
    std::string controller, key, error;
  };
  struct Failures {
    size_t count = 0;
    std::vector<Failure> some;
  };
  // Returns how many keys of all runnables failed in their last pass, and at most `most` of them.
  Failures Failing(size_t most) const;

  // As ManagerOptions::release_lease, decided while it runs: for a process that ends to begin
  // again. Thread-safe.
  void GiveLeaseBackAtEnd();

  // Blocks until `stop`, a lost lease (kAborted) or a failed runnable. All threads have ended on
  // return, unless the graceful period was exceeded: then the code is always kDeadlineExceeded, the
  // message names the runnables that still run (after the failure, if there was one), and the
  // destructor would wait for them. Call it once. kInvalidArgument when the timings of the election
  // are wrong; kUnavailable when an address cannot be bound.
  absl::Status Run(const base::StopToken& stop);
  // Run in two parts, for a caller that has no thread to wait with. Begin returns when everything
  // has been started; after an error nothing runs. From then on `on_failure` is called, on any
  // thread, when Run would end by itself, perhaps before Begin returns and perhaps several times;
  // it must not block. End has to follow, and returns what Run would return.
  absl::Status Begin(std::function<void()> on_failure);
  absl::Status End();
  // Returns what /metrics shows, for a process that shows the metrics of several managers.
  std::string Metrics();
  // Also true without leader election, while the loops run.
  bool IsLeader() const;
  // Returns whether no runnable has anything to do now. They are asked one after the other: what
  // one of them hands to another one meanwhile may be missed.
  bool IsIdle() const;
  // The token is stopped when work in progress must end at once: the lease was lost, or two thirds
  // of the graceful period have passed.
  base::StopToken abort_token() const;
  // The ports on which the servers listen, also for addresses with port 0; 0 while there is no
  // server.
  int health_port() const;
  int metrics_port() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kube

#endif  // KUBE_RUNTIME_MANAGER_H_
