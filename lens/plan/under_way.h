// Evictions that are under way before anything changes. A plan takes them to have ended by then,
// and says so.
#ifndef LENS_PLAN_UNDER_WAY_H_
#define LENS_PLAN_UNDER_WAY_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "kube/meta/object.h"
#include "lens/plan/dry_failover.h"
#include "lens/plan/fleet_edit.h"
#include "lens/plan/silent_clusters.h"

namespace lens::plan {

// Evictions: by the cluster that they are from, of which templates.
struct EvictionsUnderWay {
  using Templates = std::vector<std::string>;
  std::map<std::string, Templates> begun;
  std::map<std::string, Templates> of_users;  // Which a user has to end (suppressDeletion).
  // Which a taint that is there already causes, and which have not begun.
  std::map<std::string, Templates> pending;

  // Counts the tasks of a binding. One that only keeps a workload away has ended.
  void CountTasks(const kube::Object& binding);
  void CountPending(const std::vector<Departure>& departures);
  // Returns a sentence for each kind of eviction from each cluster, with a few templates by name.
  std::vector<std::string> Notes(const std::vector<FleetEdit>& edits,
                                 const AbandonedClusters& abandoned) const;
};

}  // namespace lens::plan

#endif  // LENS_PLAN_UNDER_WAY_H_
