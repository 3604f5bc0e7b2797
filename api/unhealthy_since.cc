#include "api/unhealthy_since.h"

#include <algorithm>
#include <iterator>
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
    "The workload is unhealthy in this cluster since the time of the last transition, from which "
    "spec.failover.application.decisionConditions.tolerationSeconds counts.";

std::string TypeFor(absl::string_view cluster) { return absl::StrCat(cluster, kSuffix); }

std::set<std::string> UnhealthyClusters(const kube::Object& binding) {
  const BindingView view(binding);
  std::set<std::string> reported;
  for (AggregatedStatusItem& item : view.AggregatedItems()) {
    if (item.health == kUnhealthy) reported.insert(std::move(item.cluster_name));
  }
  std::set<std::string> unhealthy;
  for (TargetCluster& target : view.Clusters()) {
    if (reported.count(target.name) > 0) unhealthy.insert(std::move(target.name));
  }
  return unhealthy;
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
  std::set<std::string> unhealthy, still_unhealthy;
  if (AsksForApplicationFailover(after)) {
    unhealthy = UnhealthyClusters(after);
    const std::set<std::string> known = UnhealthyClusters(before);
    std::set_intersection(unhealthy.begin(), unhealthy.end(), known.begin(), known.end(),
                          std::inserter(still_unhealthy, still_unhealthy.end()));
  }
  json::Value conditions = Without(present, still_unhealthy);
  // Rounded up: nothing is moved earlier than its policy says.
  const absl::Time since =
      absl::FromUnixSeconds(absl::ToUnixSeconds(now - absl::Nanoseconds(1)) + 1);
  for (const std::string& cluster : unhealthy) {
    kube::SetCondition(conditions, {TypeFor(cluster), "True", kReason, kMessage}, since);
  }
  if (conditions == present || (conditions.empty() && present.is_null())) return;
  after.Set({"status", "conditions"}, std::move(conditions));
}

}  // namespace api
