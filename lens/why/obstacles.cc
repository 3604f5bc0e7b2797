// The filters in the order in which their answers say most: affinity, deletion, eviction, taints,
// the kind, topology. A cluster that has the template already is not asked about taints and the
// kind, as karmada-scheduler does it. No state.

#include "lens/why/obstacles.h"

#include <algorithm>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/binding.h"
#include "api/cluster.h"
#include "api/cluster_affinity.h"
#include "api/keys.h"
#include "api/toleration.h"

namespace lens::why {
namespace {

bool AnyAffinityMatches(const json::Value& placement, const api::ClusterView& cluster) {
  const std::vector<api::ClusterAffinity> affinities = api::AffinitiesOf(placement);
  return std::any_of(affinities.begin(), affinities.end(),
                     [&](const api::ClusterAffinity& a) { return a.Matches(cluster); });
}

Obstacle TaintOn(const api::ClusterView& cluster, const json::Value& placement) {
  const std::vector<api::Toleration> tolerations =
      api::TolerationsFromJson(placement["clusterTolerations"]);
  for (const api::Taint& taint : cluster.Taints()) {
    if (taint.effect != api::kNoSchedule && taint.effect != api::kNoExecute) continue;
    if (api::Tolerate(tolerations, taint)) continue;
    if (taint.key == api::kNotReadyTaint || taint.key == api::kUnreachableTaint) {
      return {ObstacleKind::kNotReady, absl::StrCat("is not ready (taint ", TaintText(taint), ")")};
    }
    if (taint.key == api::kUnschedulableTaint) {
      return {ObstacleKind::kCordoned, absl::StrCat("is cordoned (taint ", TaintText(taint), ")")};
    }
    return {ObstacleKind::kTaint, absl::StrCat("has the taint ", TaintText(taint),
                                               ", which the placement does not tolerate")};
  }
  return {};
}

Obstacle MissingTopology(const api::ClusterView& cluster, const json::Value& placement) {
  for (const json::Value& constraint : placement["spreadConstraints"].items()) {
    const std::string field = constraint["spreadByField"].ToString();
    const bool missing = (field == "provider" && cluster.Provider().empty()) ||
                         (field == "region" && cluster.Region().empty()) ||
                         (field == "zone" && cluster.Zones().empty());
    if (missing) {
      return {ObstacleKind::kTopology,
              absl::StrCat("has no ", field, ", by which the placement spreads")};
    }
  }
  return {};
}

Obstacle EvictionFrom(const api::BindingView& binding, absl::string_view cluster) {
  for (const api::EvictionTask& task : binding.EvictionTasks()) {
    if (task.from_cluster != cluster) continue;
    if (!task.KeepsAway()) return {ObstacleKind::kEviction, "is being evicted from"};
    return {ObstacleKind::kTaint, "has a taint that is tolerated no longer (tolerationSeconds)"};
  }
  return {};
}

// Returns the versions in which the cluster serves the kind: "example.io/v1alpha1".
std::vector<std::string> VersionsOf(const kube::Object& cluster, const kube::Gvk& gvk) {
  std::vector<std::string> versions;
  for (const json::Value& served : cluster.status()["apiEnablements"].items()) {
    const std::string version = served["groupVersion"].ToString();
    const auto& kinds = served["resources"].items();
    const bool has_kind = std::any_of(kinds.begin(), kinds.end(), [&](const json::Value& resource) {
      return resource["kind"].AsString() == gvk.kind;
    });
    if (has_kind && absl::StartsWith(version, absl::StrCat(gvk.group, "/"))) {
      versions.push_back(version);
    }
  }
  return versions;
}

Obstacle MissingApi(const kube::Object& cluster, const api::ObjectReference& resource) {
  if (api::ClusterView(cluster).HasApi(resource.gvk())) return {};
  const std::vector<std::string> others = VersionsOf(cluster, resource.gvk());
  const std::string lack =
      absl::StrCat("does not serve ", resource.api_version, " ", resource.kind);
  if (others.empty()) return {ObstacleKind::kApi, lack};
  return {ObstacleKind::kApiVersion,
          absl::StrCat(lack, ", but serves that kind as ", absl::StrJoin(others, ", "))};
}

// A cluster that has the template already keeps it in spite of taints and of what it serves.
bool IsChosen(const api::BindingView& binding, absl::string_view cluster) {
  const std::vector<api::TargetCluster> clusters = binding.Clusters();
  return std::any_of(clusters.begin(), clusters.end(),
                     [&](const api::TargetCluster& target) { return target.name == cluster; });
}

}  // namespace

std::string TaintText(const api::Taint& taint) {
  return absl::StrCat(taint.key, taint.value.empty() ? "" : "=", taint.value, ":", taint.effect);
}

Obstacle ObstacleIn(const kube::Object& binding, const kube::Object& cluster) {
  const api::BindingView view(binding);
  const api::ClusterView member(cluster);
  const json::Value& placement = view.Placement();
  if (!AnyAffinityMatches(placement, member)) {
    return {ObstacleKind::kAffinity, "does not match the placement's cluster affinity"};
  }
  if (cluster.IsDeleting()) return {ObstacleKind::kDeleting, "is leaving"};
  Obstacle eviction = EvictionFrom(view, member.name());
  if (eviction.kind == ObstacleKind::kEviction) {
    const Obstacle cause = TaintOn(member, placement);
    if (!cause.text.empty()) absl::StrAppend(&eviction.text, " and ", cause.text);
  }
  if (eviction.kind != ObstacleKind::kNone) return eviction;
  if (IsChosen(view, member.name())) return MissingTopology(member, placement);
  Obstacle taint = TaintOn(member, placement);
  if (taint.kind != ObstacleKind::kNone) return taint;
  Obstacle api = MissingApi(cluster, view.Resource());
  if (api.kind != ObstacleKind::kNone) return api;
  return MissingTopology(member, placement);
}

}  // namespace lens::why
