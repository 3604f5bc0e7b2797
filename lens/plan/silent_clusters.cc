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

// Returns the finding about the cluster, without what reaches it when; one without a code for a
// cluster that answers.
Finding About(const api::ClusterView& cluster, const std::string& silent_since) {
  const std::string silent =
      silent_since.empty() ? "" : absl::StrCat("its karmada-agent is silent since ", silent_since);
  if (!cluster.ReadyStatus().empty() && !cluster.IsReady()) {
    return {.code = finding::kClusterNotReady,
            .message = absl::StrCat("it is not ready", Details(cluster),
                                    silent.empty() ? "" : absl::StrCat(", and ", silent))};
  }
  return {.code = silent.empty() ? "" : finding::kAgentSilent, .message = silent};
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

}  // namespace

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
    const auto agent = agents.find(name);
    const bool is_silent = agent != agents.end();
    Finding about = About(api::ClusterView(**found), is_silent ? agent->second : "");
    if (about.code.empty()) continue;
    about.object = (*found)->Describe();
    absl::StrAppend(&about.message, "; the changes of ", count,
                    count == 1 ? " template" : " templates", " reach it when ",
                    is_silent ? "its agent is back" : "it is ready again");
    findings.push_back(std::move(about));
  }
}

}  // namespace lens::plan
