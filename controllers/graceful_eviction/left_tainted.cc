#include "controllers/graceful_eviction/left_tainted.h"

#include "api/keys.h"
#include "base/json.h"

namespace controllers {

LeftTainted LeftTaintedClusters(const kube::Object& binding) {
  LeftTainted left;
  const auto recorded = json::Parse(binding.Annotation(api::kLeftTaintedClustersAnnotation));
  if (!recorded.ok()) return left;
  for (const json::Member& cluster : recorded->members()) {
    const absl::StatusOr<absl::Time> added = kube::ParseTime(cluster.value.AsString());
    if (added.ok()) left.emplace(cluster.name(), *added);
  }
  return left;
}

void SetLeftTaintedClusters(kube::Object& binding, const LeftTainted& left) {
  if (left.empty()) {
    binding.EraseAnnotation(api::kLeftTaintedClustersAnnotation);
    return;
  }
  if (left == LeftTaintedClusters(binding)) return;
  json::Value recorded = json::Value::Object();
  for (const auto& [cluster, added] : left) recorded.Set(cluster, kube::FormatTime(added));
  binding.SetAnnotation(api::kLeftTaintedClustersAnnotation, json::Write(recorded));
}

}  // namespace controllers
