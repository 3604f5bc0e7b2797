// What a plan warns of when clusters in which something changes do not answer, or their agents are
// silent.
#ifndef LENS_PLAN_SILENT_CLUSTERS_H_
#define LENS_PLAN_SILENT_CLUSTERS_H_

#include <map>
#include <optional>
#include <string>
#include <utility>
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

// Returns "not ready since 2026-01-01T11:00:00Z (ClusterNotReachable: ...)", as far as the Cluster
// says so; "" if it is ready, or if nobody has said whether it is.
std::string NotReadySince(const kube::Object& cluster);

// That a cluster does not answer.
struct SilentCluster {
  std::string code;       // finding::kClusterNotReady or kAgentSilent.
  std::string why;        // "it is not ready since ..., and its karmada-agent is silent since ..."
  bool is_agent = false;  // True: nobody but its silent agent could reach it.
};
// Returns nullopt for a cluster that answers.
std::optional<SilentCluster> WhySilent(const kube::Object& cluster, const SilentAgents& agents);

// By their names, the Clusters that leave the fleet while they do not answer.
using AbandonedClusters = std::map<std::string, std::pair<kube::ObjectPtr, SilentCluster>>;

// Nobody can delete anything in clusters that leave while they do not answer: turns deletions there
// into releases, and adds a finding for each cluster with how many templates run on there.
void AddAbandoned(const AbandonedClusters& abandoned, std::vector<TemplateChange>& changes,
                  std::vector<Finding>& findings);

// Adds a finding for each cluster in which something changes and that is not ready, by the Clusters
// of the simulated control plane, or whose agent is silent. Those that are lost by the edits are
// known to the reader and left out, as are those that leave (AddAbandoned).
void AddSilentClusters(const std::vector<TemplateChange>& changes,
                       const std::vector<FleetEdit>& edits, const SilentAgents& agents,
                       sandbox::Backend& backend, std::vector<Finding>& findings);

}  // namespace lens::plan

#endif  // LENS_PLAN_SILENT_CLUSTERS_H_
