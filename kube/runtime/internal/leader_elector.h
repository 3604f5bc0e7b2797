// Leader election on a coordination.k8s.io/v1 Lease, compatible with client-go's: both may contend
// for the same Lease.
//
// Clocks of the contenders need not agree: a Lease counts as given up when it has not changed for
// its duration on the local clock.
#ifndef KUBE_RUNTIME_INTERNAL_LEADER_ELECTOR_H_
#define KUBE_RUNTIME_INTERNAL_LEADER_ELECTOR_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/stop_token.h"
#include "kube/client/client.h"

namespace kube {

class EventSink;
class LeaderFence;

struct LeaderElectionOptions {
  std::string lease_namespace;
  std::string lease_name;
  std::string identity;  // Empty stands for <hostname>_<uuid>.
  // A stand-by takes over when it has seen no change of the lease for this time. It looks every 1
  // to 2.2 retry periods, so that much may have passed until it has seen the last renewal.
  absl::Duration lease_duration = absl::Seconds(15);
  // A leader that could not renew for this time gives up.
  absl::Duration renew_deadline = absl::Seconds(10);
  absl::Duration retry_period = absl::Seconds(2);  // The pause between attempts.
  // Whether a stand-by watches the Lease, and so takes it at once when the leader gives it up, and
  // sees each renewal when it is made. It costs a connection, and an event for each renewal.
  bool watch = false;
  // The Lease bears this contender's own name, and says that it lives: when it has gone while it is
  // held, somebody has declared the holder dead, and it is lost instead of created again.
  bool is_own = false;
};

// The gauge that is 1 while this process leads, which controller-runtime has as well.
metrics::Gauge& MasterStatus(metrics::Registry& registry, const std::string& lease_name);

class LeaderElector {
 public:
  struct Environment {
    Client& client;
    EventSink& events;
    const base::Clock& clock;
    metrics::Registry& registry;
    LeaderFence* fence = nullptr;  // Is told until when the lease is held, if there is one.
  };
  // kInvalidArgument unless lease_duration > renew_deadline > 1.2 * retry_period > 0. REQUIRES:
  // everything in `environment` outlives the elector.
  static absl::StatusOr<std::unique_ptr<LeaderElector>> Create(LeaderElectionOptions options,
                                                               Environment environment);
  ~LeaderElector();

  // Called when the Lease is held, on a thread of its own. `over` is stopped when Run is to end,
  // because of its own stop or because the Lease was lost; the call should then return soon, and
  // begin nothing more that only a leader may do.
  using OnElected = std::function<void(const base::StopToken& over)>;
  // Blocks: contends for the Lease, calls `on_elected` once it is held, and renews it meanwhile and
  // afterwards, however long the call takes. OK when stopped (a stand-by waits until the Lease
  // expires, unless Release follows), kAborted when it was lost. Returns after the call has
  // returned. Call it once.
  absl::Status Run(const base::StopToken& stop, const OnElected& on_elected);
  // Gives up the Lease if Run has held it until its end, or was claiming it then, so that a
  // stand-by takes it with its next attempt. REQUIRES: Run has returned, and nothing of what it let
  // run is running any more. Failures are logged; then the Lease expires.
  void Release(const base::StopToken& stop);
  bool IsLeader() const;  // Thread-safe.
  const std::string& identity() const;

 private:
  struct Impl;
  explicit LeaderElector(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kube

#endif  // KUBE_RUNTIME_INTERNAL_LEADER_ELECTOR_H_
