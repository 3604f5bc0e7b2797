// What the daemon's loops about clusters would do on a simulated control plane, with the time that
// it takes left out: taints by readiness and by ClusterTaintPolicies, evictions from clusters with
// NoExecute taints, and the ends of these evictions.
#ifndef LENS_PLAN_DRY_FAILOVER_H_
#define LENS_PLAN_DRY_FAILOVER_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/cluster.h"
#include "base/stop_token.h"
#include "config/options.h"
#include "kube/meta/object.h"
#include "lens/plan/dry_control_plane.h"
#include "lens/plan/input.h"

namespace lens::plan {

// A workload that is evicted from a cluster.
struct Departure {
  ObjectId id;
  std::string cluster;
  absl::Duration stay;     // From the change on, how long until its eviction begins.
  std::string purge_mode;  // api::kPurgeGracefully or kPurgeDirectly.
};

// Returns "key:Effect".
std::string NameOf(const api::Taint& taint);

// Returns the names of the taints that the cluster has.
std::set<std::string> TaintNames(const kube::Object& cluster);

class DryFailover {
 public:
  // Everything happens at `now`, in whole seconds as times of taints are. REQUIRES: `plane`
  // outlives this object.
  DryFailover(DryControlPlane& plane, absl::Time now)
      : plane_(plane), options_(plane.options()), now_(now) {}

  // Gives the Cluster the taints that the loops give it after a change of its conditions, its
  // labels or its place.
  absl::Status Taint(const std::string& cluster);
  // Says that these taints of the cluster, names as TaintNames(), are there only after that time.
  void Delay(const std::string& cluster, std::set<std::string> taints, absl::Duration until) {
    delayed_[cluster] = {std::move(taints), until};
  }
  // Evicts what has to leave, lets the scheduler place it, and ends all evictions as if everything
  // became healthy or the time were over, until nothing is left to do. Returns what was evicted.
  // Tasks that a user has to end stay.
  absl::StatusOr<std::vector<Departure>> Run(const base::StopToken& stop);
  // Returns why the daemon does not evict workloads from tainted clusters although they may not
  // tolerate the taint: by workload and cluster, sentences without a full stop.
  const std::map<std::pair<ObjectId, std::string>, std::string>& undecided() const {
    return undecided_;
  }

 private:
  using Key = std::pair<kube::ObjectKey, std::string>;  // Binding and cluster.
  using WorksByOwner = std::map<kube::ObjectKey, std::vector<kube::ObjectPtr>>;

  absl::StatusOr<std::vector<kube::ObjectPtr>> Bindings() const;
  // Evicts from all clusters; adds to `out`.
  absl::Status EvictAll(std::vector<Departure>& out);
  absl::Status EvictFrom(const kube::Object& cluster, std::vector<Departure>& out);
  // Returns how long the workload stays in the cluster that has these taints.
  absl::StatusOr<absl::Duration> StayOf(const kube::Object& binding, absl::string_view cluster,
                                        const std::vector<api::Taint>& taints) const;
  absl::Status Evict(const kube::ObjectPtr& binding, const Departure& departure);
  std::string PurgeMode(const kube::Object& binding) const;
  // Returns whether a task has ended.
  absl::StatusOr<bool> EndTasks();
  absl::StatusOr<WorksByOwner> WorksOfBindings() const;
  // Deletes those of its Works that are in clusters where it is not attached.
  absl::Status DeleteWorks(const kube::Object& binding, const WorksByOwner& works);

  DryControlPlane& plane_;
  const config::Options& options_;
  const absl::Time now_;
  std::set<Key> evicted_;
  std::map<std::string, std::pair<std::set<std::string>, absl::Duration>> delayed_;
  std::map<std::pair<ObjectId, std::string>, std::string> undecided_;
};

}  // namespace lens::plan

#endif  // LENS_PLAN_DRY_FAILOVER_H_
