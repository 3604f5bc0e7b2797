#include "api/unhealthy_since.h"

#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/binding.h"

namespace api {

namespace {

constexpr char kSuffix[] = "/Unhealthy";
constexpr char kReason[] = "UnhealthyInCluster";
constexpr char kMessage[] =
    "The workload became unhealthy in this cluster at the time of the last transition and has not "
    "been seen healthy there since. spec.failover.application.decisionConditions.tolerationSeconds "
    "counts from that time.";

std::string TypeFor(absl::string_view cluster) { return absl::StrCat(cluster, kSuffix); }

// Returns the clusters whose item of status.aggregatedStatus has this health.
std::set<std::string> ClustersThatAre(absl::string_view health, const BindingView& binding) {
  std::set<std::string> clusters;
  for (AggregatedStatusItem& item : binding.AggregatedItems()) {
    if (item.health == health) clusters.insert(std::move(item.cluster_name));
  }
  return clusters;
}

// Sorts the clusters of spec.clusters by what becomes of their conditions.
struct Sorted {
  std::set<std::string> unhealthy;
  std::set<std::string> open;  // Neither healthy now nor known to have been so since the condition.
};

Sorted SortTargets(const kube::Object& before, const kube::Object& after) {
  const BindingView view(after);
  const std::set<std::string> unhealthy = ClustersThatAre(kUnhealthy, view);
  const std::set<std::string> healthy = ClustersThatAre(kHealthy, view);
  const std::set<std::string> was_healthy = ClustersThatAre(kHealthy, BindingView(before));
  Sorted sorted;
  for (const TargetCluster& target : view.Clusters()) {
    if (unhealthy.contains(target.name)) sorted.unhealthy.insert(target.name);
    if (healthy.contains(target.name) || was_healthy.contains(target.name)) continue;
    sorted.open.insert(target.name);
  }
  return sorted;
}

// Returns the conditions without those of this file for other clusters than these. Others may have
// types that end alike.
json::Value Without(const json::Value& conditions, const std::set<std::string>& kept_clusters) {
  json::Value kept = json::Value::Array();
  for (const json::Value& condition : conditions.items()) {
    absl::string_view cluster = condition["type"].AsString();
    const bool ours =
        absl::ConsumeSuffix(&cluster, kSuffix) && condition["reason"].AsString() == kReason;
    if (!ours || kept_clusters.count(std::string(cluster)) > 0) kept.Append(condition);
  }
  return kept;
}

}  // namespace

bool AsksForApplicationFailover(const kube::Object& binding) {
  return binding.Get({"spec", "failover", "application"}).is_object();
}

std::optional<absl::Time> UnhealthySince(const kube::Object& binding, absl::string_view cluster) {
  const json::Value* condition =
      kube::FindCondition(binding.status()["conditions"], TypeFor(cluster));
  if (condition == nullptr) return std::nullopt;
  const auto since = kube::ParseTime((*condition)["lastTransitionTime"].AsString());
  return since.ok() ? std::optional<absl::Time>(*since) : std::nullopt;
}

void RecordUnhealthy(const kube::Object& before, kube::Object& after, absl::Time now) {
  const json::Value present = after.status()["conditions"];
  const Sorted targets = AsksForApplicationFailover(after) ? SortTargets(before, after) : Sorted();
  json::Value conditions = Without(present, targets.open);
  // Rounded up: nothing is moved earlier than its policy says.
  const absl::Time since =
      absl::FromUnixSeconds(absl::ToUnixSeconds(now - absl::Nanoseconds(1)) + 1);
  for (const std::string& cluster : targets.unhealthy) {
    kube::SetCondition(conditions, {TypeFor(cluster), "True", kReason, kMessage}, since);
  }
  if (conditions == present || (conditions.empty() && present.is_null())) return;
  after.Set({"status", "conditions"}, std::move(conditions));
}

}  // namespace api
