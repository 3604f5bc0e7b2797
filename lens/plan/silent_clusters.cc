#include "lens/plan/silent_clusters.h"

#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "api/cluster.h"
#include "api/keys.h"
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

}  // namespace

void AddSilentClusters(const std::vector<TemplateChange>& changes,
                       const std::vector<FleetEdit>& edits, sandbox::Backend& backend,
                       std::vector<Finding>& findings) {
  std::map<std::string, int> templates;  // By the cluster in which they change.
  for (const TemplateChange& change : changes) {
    for (const ClusterChange& share : change.clusters) {
      if (share.action != Action::kNone) ++templates[share.cluster];
    }
  }
  for (const FleetEdit& edit : edits) templates.erase(edit.cluster);
  for (const auto& [name, count] : templates) {
    const auto found = sandbox::FindObject(backend, api::Clusters().gvr(), {"", name});
    if (!found.ok() || *found == nullptr) continue;
    const api::ClusterView cluster(**found);
    if (cluster.ReadyStatus().empty() || cluster.IsReady()) continue;
    findings.push_back(
        {.code = finding::kClusterNotReady,
         .object = (*found)->Describe(),
         .message = absl::StrCat("it is not ready", Details(cluster), "; the changes of ", count,
                                 count == 1 ? " template" : " templates",
                                 " reach it when it is ready again")});
  }
}

}  // namespace lens::plan
