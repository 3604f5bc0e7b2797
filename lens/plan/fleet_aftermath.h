// What has happened when a fleet has changed.
#ifndef LENS_PLAN_FLEET_AFTERMATH_H_
#define LENS_PLAN_FLEET_AFTERMATH_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "config/options.h"
#include "lens/plan/dry_failover.h"
#include "lens/plan/silent_clusters.h"

namespace lens::plan {

// What keeps workloads in a tainted cluster whose scheduler has not recorded by which placement it
// has placed them: what their policy tolerates does not count.
inline constexpr char kUndecided[] =
    "karmada-controller-manager does not know what they tolerate, because their bindings have no "
    "annotation policy.karmada.io/applied-placement that it can read, which their scheduler sets; "
    "it does not evict them, and reports that";
inline constexpr char kOneUndecided[] =
    "karmada-controller-manager does not know what it tolerates, because its binding has no "
    "annotation policy.karmada.io/applied-placement that it can read, which its scheduler sets; "
    "it is not evicted, and that is reported";

// What keeps workloads in a tainted cluster that tolerate it.
inline constexpr char kTolerated[] = "they tolerate the taint for ever";
inline constexpr char kOneTolerated[] = "it tolerates the taint for ever";

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
  // What DryFailover::undecided() returns.
  std::map<std::pair<ObjectId, std::string>, std::string> undecided;
  std::set<std::string> lost;
  AbandonedClusters abandoned;
  std::vector<std::string> notes;  // Sentences about what the changes do by themselves.
};

}  // namespace lens::plan

#endif  // LENS_PLAN_FLEET_AFTERMATH_H_
