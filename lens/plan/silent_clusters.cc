// A cluster is silent by its condition Ready, or by the Lease that its agent does not renew any
// more. What is changed in it waits, which AddSilentClusters reports; where it leaves the fleet
// nothing is deleted, so that AddAbandoned turns deletions into releases. Nothing is kept or
// written.

#include "lens/plan/silent_clusters.h"

#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/cluster.h"
#include "api/keys.h"
#include "api/leadership.h"
#include "api/resources.h"
#include "kube/meta/object.h"
#include "sandbox/sim/writes.h"
#include "tool/console.h"

namespace lens::plan {
namespace {

// Returns since when the cluster is not ready, and why: " since 2026-01-01T11:00:00Z
// (ClusterNotReachable: ...)", as far as its condition says so.
std::string Details(const api::ClusterView& cluster) {
  const json::Value* ready = kube::FindCondition(cluster.Conditions(), api::kClusterReady);
  if (ready == nullptr) return "";
  const json::Value& since = (*ready)["lastTransitionTime"];
  return absl::StrCat(since.is_string() ? " since " : "", since.AsString(), " (",
                      (*ready)["reason"].AsString(), ": ", (*ready)["message"].AsString(), ")");
}

// How many templates change in each cluster.
std::map<std::string, int> ChangesByCluster(const std::vector<TemplateChange>& changes) {
  std::map<std::string, int> templates;
  for (const TemplateChange& change : changes) {
    for (const ClusterChange& share : change.clusters) {
      if (share.action != Action::kNone) ++templates[share.cluster];
    }
  }
  return templates;
}

void Add(const kube::Object& cluster, const SilentCluster& silent, const std::string& follows,
         std::vector<Finding>& findings) {
  findings.push_back({.code = silent.code,
                      .object = cluster.Describe(),
                      .message = absl::StrCat(silent.why, "; ", follows)});
}

}  // namespace

std::string NotReadySince(const kube::Object& cluster) {
  const api::ClusterView view(cluster);
  if (view.ReadyStatus().empty() || view.IsReady()) return "";
  return absl::StrCat("not ready", Details(view));
}

std::optional<SilentCluster> WhySilent(const kube::Object& cluster, const SilentAgents& agents) {
  const auto agent = agents.find(std::string(cluster.name()));
  const bool is_silent = agent != agents.end();
  const std::string silent =
      is_silent ? absl::StrCat("its karmada-agent is silent since ", agent->second) : "";
  const std::string not_ready = NotReadySince(cluster);
  if (!not_ready.empty()) {
    return SilentCluster{finding::kClusterNotReady,
                         absl::StrCat("it is ", not_ready, is_silent ? ", and " : "", silent),
                         is_silent};
  }
  if (!is_silent) return std::nullopt;
  return SilentCluster{finding::kAgentSilent, silent, true};
}

SilentAgents SilentAgentsOf(const LiveState& live, absl::Time now) {
  std::map<std::string, const kube::Object*> leases;
  for (const kube::Object& lease : live.agent_leases) leases[std::string(lease.name())] = &lease;
  SilentAgents silent;
  for (const kube::Object& object : live.scenery) {
    if (object.gvk() != api::Clusters().gvk || !api::ClusterView(object).IsPull()) continue;
    const auto lease = leases.find(std::string(object.name()));
    if (lease == leases.end() || api::WhyNobodyLeads(*lease->second, now).empty()) continue;
    silent[lease->first] = lease->second->spec()["renewTime"].ToString();
  }
  return silent;
}

void AddSilentClusters(const std::vector<TemplateChange>& changes,
                       const std::vector<FleetEdit>& edits, const SilentAgents& agents,
                       sandbox::Backend& backend, std::vector<Finding>& findings) {
  std::map<std::string, int> templates = ChangesByCluster(changes);
  for (const FleetEdit& edit : edits) {
    const bool is_away =
        edit.kind == FleetEdit::Kind::kLost || edit.kind == FleetEdit::Kind::kWithout;
    if (is_away) templates.erase(edit.cluster);
  }
  for (const auto& [name, count] : templates) {
    const auto found = sandbox::FindObject(backend, api::Clusters().gvr(), {"", name});
    if (!found.ok() || *found == nullptr) continue;
    const std::optional<SilentCluster> silent = WhySilent(**found, agents);
    if (!silent.has_value()) continue;
    Add(**found, *silent,
        absl::StrCat("the changes of ", tool::Count(count, "template"), " reach it when ",
                     silent->is_agent ? "its agent is back" : "it is ready again"),
        findings);
  }
}

void AddAbandoned(const AbandonedClusters& abandoned, std::vector<TemplateChange>& changes,
                  std::vector<Finding>& findings) {
  std::map<std::string, int> templates;
  for (TemplateChange& change : changes) {
    for (ClusterChange& share : change.clusters) {
      if (!abandoned.contains(share.cluster)) continue;
      if (share.action == Action::kDelete) share.action = Action::kRelease;
      if (share.action == Action::kRelease) ++templates[share.cluster];
    }
  }
  for (const auto& [name, count] : templates) {
    const auto& [cluster, silent] = abandoned.at(name);
    Add(*cluster, silent,
        absl::StrCat("nothing is deleted there when it leaves: ", tool::Count(count, "template"),
                     count == 1 ? " runs on there and belongs" : " run on there and belong",
                     " to nobody"),
        findings);
  }
}

}  // namespace lens::plan
