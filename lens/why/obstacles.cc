#include "lens/why/obstacles.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/binding.h"
#include "api/cluster.h"
#include "api/cluster_affinity.h"
#include "api/keys.h"

namespace lens::why {
namespace {

bool Tolerates(const json::Value& tolerations, const api::Taint& taint) {
  for (const json::Value& t : tolerations.items()) {
    const absl::string_view key = t["key"].AsString();
    const absl::string_view effect = t["effect"].AsString();
    const bool exists = t["operator"].AsString() == "Exists";
    if (!effect.empty() && effect != taint.effect) continue;
    if (key.empty() ? !exists : key != taint.key) continue;
    if (exists || t["value"].AsString() == taint.value) return true;
  }
  return false;
}

bool AnyAffinityMatches(const json::Value& placement, const api::ClusterView& cluster) {
  const std::vector<api::ClusterAffinity> affinities = api::AffinitiesOf(placement);
  return std::any_of(affinities.begin(), affinities.end(),
                     [&](const api::ClusterAffinity& a) { return a.Matches(cluster); });
}

Obstacle TaintOn(const api::ClusterView& cluster, const json::Value& tolerations) {
  for (const api::Taint& taint : cluster.Taints()) {
    if (taint.effect != api::kNoSchedule && taint.effect != api::kNoExecute) continue;
    if (Tolerates(tolerations, taint)) continue;
    if (taint.key == api::kNotReadyTaint || taint.key == api::kUnreachableTaint) {
      return {ObstacleKind::kNotReady,
              absl::StrCat("is not ready (taint ", taint.key, ":", taint.effect, ")")};
    }
    const std::string value = taint.value.empty() ? "" : absl::StrCat("=", taint.value);
    return {ObstacleKind::kTaint,
            absl::StrCat("has the taint ", taint.key, value, ":", taint.effect,
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

bool IsEvicting(const api::BindingView& binding, absl::string_view cluster) {
  const std::vector<api::EvictionTask> tasks = binding.EvictionTasks();
  return std::any_of(tasks.begin(), tasks.end(),
                     [&](const api::EvictionTask& task) { return task.from_cluster == cluster; });
}

}  // namespace

Obstacle ObstacleIn(const kube::Object& binding, const kube::Object& cluster) {
  const api::BindingView view(binding);
  const api::ClusterView member(cluster);
  const json::Value& placement = view.Placement();
  if (!AnyAffinityMatches(placement, member)) {
    return {ObstacleKind::kAffinity, "does not match the placement's cluster affinity"};
  }
  if (cluster.IsDeleting()) return {ObstacleKind::kDeleting, "is leaving"};
  if (IsEvicting(view, member.name())) {
    return {ObstacleKind::kEviction, "is being evicted from"};
  }
  Obstacle taint = TaintOn(member, placement["clusterTolerations"]);
  if (taint.kind != ObstacleKind::kNone) return taint;
  const api::ObjectReference resource = view.Resource();
  if (!member.HasApi(resource.gvk())) {
    return {ObstacleKind::kApi,
            absl::StrCat("does not serve ", resource.api_version, " ", resource.kind)};
  }
  return MissingTopology(member, placement);
}

}  // namespace lens::why
