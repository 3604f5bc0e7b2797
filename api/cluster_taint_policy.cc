#include "api/cluster_taint_policy.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "api/cluster_affinity.h"

namespace api {
namespace {

constexpr char kAddOn[] = "addOnConditions";
constexpr char kRemoveOn[] = "removeOnConditions";
constexpr char kIn[] = "In";
constexpr char kNotIn[] = "NotIn";

bool Matches(const json::Value& item, const json::Value& conditions) {
  const json::Value* condition = kube::FindCondition(conditions, item["conditionType"].AsString());
  if (condition == nullptr) return false;
  const auto values = item["statusValues"].items();
  const bool listed = std::any_of(values.begin(), values.end(), [&](const json::Value& value) {
    return value.AsString() == (*condition)["status"].AsString();
  });
  const absl::string_view op = item["operator"].AsString();
  return (op == kIn && listed) || (op == kNotIn && !listed);
}

// Follows upstream's conditionMatches.
bool AllMatch(const json::Value& wanted, const json::Value& conditions) {
  const auto items = wanted.items();
  return !items.empty() && std::all_of(items.begin(), items.end(), [&](const json::Value& item) {
    return Matches(item, conditions);
  });
}

}  // namespace

bool ClusterTaintPolicyView::Targets(const ClusterView& cluster) const {
  return ClusterAffinity::FromJson(spec()["targetClusters"]).Matches(cluster);
}

std::vector<Taint> ClusterTaintPolicyView::Taints() const {
  std::vector<Taint> taints;
  for (const json::Value& item : spec()["taints"].items()) {
    taints.push_back(Taint::FromJson(item));
    taints.back().time_added.clear();
  }
  return taints;
}

bool ClusterTaintPolicyView::AddsOn(const ClusterView& cluster) const {
  return AllMatch(spec()[kAddOn], cluster.Conditions());
}

bool ClusterTaintPolicyView::RemovesOn(const ClusterView& cluster) const {
  return AllMatch(spec()[kRemoveOn], cluster.Conditions());
}

absl::Status ClusterTaintPolicyView::CheckOperators() const {
  for (const char* list : {kAddOn, kRemoveOn}) {
    for (size_t i = 0; i < spec()[list].size(); ++i) {
      const absl::string_view op = spec()[list].At(i)["operator"].AsString();
      if (op == kIn || op == kNotIn) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("spec.", list, "[", i, "].operator is \"", op,
                       "\", which is neither In nor NotIn: this condition never matches"));
    }
  }
  return absl::OkStatus();
}

}  // namespace api
