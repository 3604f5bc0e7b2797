#include "api/unhealthy_since.h"

#include <set>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
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

// Returns the conditions but for those that this file is about.
json::Value OtherConditions(const json::Value& conditions) {
  json::Value others = json::Value::Array();
  for (const json::Value& condition : conditions.items()) {
    if (!absl::EndsWith(condition["type"].AsString(), kSuffix)) others.Append(condition);
  }
  return others;
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
  const json::Value& present = after.status()["conditions"];
  json::Value conditions = OtherConditions(present);
  if (AsksForApplicationFailover(after)) {
    const std::set<std::string> known = UnhealthyClusters(before);
    for (const std::string& cluster : UnhealthyClusters(after)) {
      const json::Value* kept = kube::FindCondition(present, TypeFor(cluster));
      if (kept != nullptr && known.count(cluster) > 0) {
        conditions.Append(*kept);
        continue;
      }
      // Rounded up: nothing is moved earlier than its policy says.
      kube::SetCondition(
          conditions, {TypeFor(cluster), "True", kReason, kMessage},
          absl::FromUnixSeconds(absl::ToUnixSeconds(now - absl::Nanoseconds(1)) + 1));
    }
  }
  if (conditions == present || (conditions.empty() && present.is_null())) return;
  after.Set({"status", "conditions"}, std::move(conditions));
}

}  // namespace api
