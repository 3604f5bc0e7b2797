// Makes changes of the fleet on a simulated control plane, and lets happen what follows from them.
#ifndef LENS_PLAN_CHANGED_FLEET_H_
#define LENS_PLAN_CHANGED_FLEET_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/stop_token.h"
#include "config/options.h"
#include "kube/meta/object.h"
#include "lens/plan/dry_control_plane.h"
#include "lens/plan/dry_failover.h"
#include "lens/plan/fleet_edit.h"
#include "lens/plan/silent_clusters.h"

namespace lens::plan {

// What keeps workloads in a tainted cluster whose scheduler has not recorded by which placement it
// has placed them: what their policy tolerates does not count.
inline constexpr char kUndecided[] =
    "karmada-controller-manager does not know what they tolerate, because their bindings have no "
    "annotation policy.karmada.io/applied-placement that it can read, which their scheduler sets; "
    "it does not evict them, and reports that";

// What has happened.
struct FleetAftermath {
  // Returns how the workload was evicted from the cluster, the first time; nullptr if it was not.
  const Departure* DepartureOf(const ObjectId& id, const std::string& cluster) const;

  // Returns how long the evictions take together, because of --resource-eviction-rate.
  absl::Duration EvictionsTake(const config::Options& options) const;

  std::map<std::pair<ObjectId, std::string>, std::vector<Departure>> departures;
  // Those that the state before the changes causes; they go before the others in the queue.
  std::vector<Departure> earlier;
  // For each cluster that is lost or from which workloads should leave: why those that are still
  // there are not moved.
  std::map<std::string, std::string> held;
  // As DryFailover::undecided().
  std::map<std::pair<ObjectId, std::string>, std::string> undecided;
  // For each cluster that is lost, how long until Karmada counts it as not ready.
  std::map<std::string, absl::Duration> lost;
  AbandonedClusters abandoned;
  std::vector<std::string> notes;  // Sentences about what the changes do by themselves.
};

// Makes all changes at the same time, and waits until nothing is left to do. kNotFound when there
// is no such cluster, kAlreadyExists when one that joins is there. `agents` are those that are
// silent.
absl::StatusOr<FleetAftermath> ChangeFleet(const std::vector<FleetEdit>& edits,
                                           const SilentAgents& agents, DryControlPlane& plane,
                                           const base::StopToken& stop);

}  // namespace lens::plan

#endif  // LENS_PLAN_CHANGED_FLEET_H_
