// What a plan warns of when clusters in which something changes do not answer, or their agents are
// silent.
#ifndef LENS_PLAN_SILENT_CLUSTERS_H_
#define LENS_PLAN_SILENT_CLUSTERS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "kube/meta/object.h"
#include "lens/plan/comparison.h"
#include "lens/plan/fleet_edit.h"
#include "lens/plan/live_reader.h"
#include "sandbox/storage/backend.h"

namespace lens::plan {

// By the names of clusters in pull mode, since when their agents are silent.
using SilentAgents = std::map<std::string, std::string>;

// Returns those whose Leases show that nobody renews them, as `karmada-lens why` judges it.
SilentAgents SilentAgentsOf(const LiveState& live, absl::Time now);

// Adds a finding for each cluster in which something changes and that is not ready, by the Clusters
// of the simulated control plane, or whose agent is silent. Those that are lost, or leave, by the
// edits are known to the reader and left out.
void AddSilentClusters(const std::vector<TemplateChange>& changes,
                       const std::vector<FleetEdit>& edits, const SilentAgents& agents,
                       sandbox::Backend& backend, std::vector<Finding>& findings);

}  // namespace lens::plan

#endif  // LENS_PLAN_SILENT_CLUSTERS_H_
