// With a constraint by region regions are chosen first (region_spread.h), then the best cluster of
// each, then the best ones of the rest. Without one clusters are chosen alone, and chosen ones are
// exchanged for others with more room until the replicas fit.

#include "sandbox/sim/spread_selection.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/cluster.h"
#include "sandbox/sim/region_spread.h"

namespace sandbox {
namespace {

// Exchanges the last chosen clusters for ones with more room until `replicas` fit.
bool MakeRoom(Candidates& chosen, Candidates rest, int64_t replicas) {
  for (auto last = chosen.rbegin(); last != chosen.rend() && AvailableIn(chosen) < replicas;
       ++last) {
    const auto most = std::max_element(
        rest.begin(), rest.end(),
        [](const Candidate& a, const Candidate& b) { return a.available() < b.available(); });
    if (most == rest.end()) break;
    if (most->available() > last->available()) std::swap(*most, *last);
  }
  return AvailableIn(chosen) >= replicas;
}

// Returns the constraint by that field; null when there is none.
const json::Value& ConstraintBy(absl::string_view field, const json::Value& placement) {
  static const auto& none = *new json::Value();
  const json::Value* found = &none;
  for (const json::Value& constraint : placement["spreadConstraints"].items()) {
    if (constraint["spreadByField"].AsString() == field) found = &constraint;
  }
  return *found;
}

absl::StatusOr<Candidates> SelectByCluster(const api::BindingView& binding,
                                           const json::Value& constraint, Candidates candidates) {
  const auto count = static_cast<int64_t>(candidates.size());
  if (count < constraint["minGroups"].AsInt()) {
    return absl::FailedPreconditionError(
        "the number of feasible clusters is less than spreadConstraint.MinGroups");
  }
  const int64_t wanted = std::min(count, constraint["maxGroups"].AsInt());
  if (wanted <= 0) return absl::FailedPreconditionError("spreadConstraint.MaxGroups is 0");
  Candidates chosen(candidates.begin(), candidates.begin() + wanted);
  if (!binding.IsDivided()) return chosen;
  Candidates rest(candidates.begin() + wanted, candidates.end());
  if (!MakeRoom(chosen, std::move(rest), binding.Replicas())) {
    return absl::FailedPreconditionError("no enough resource when selecting " +
                                         absl::StrCat(wanted, " clusters"));
  }
  return chosen;
}

// The candidates of each region, the best one first.
using ByRegion = std::map<std::string, Candidates>;

std::vector<std::string> RegionsFor(const ByRegion& all, const RegionSpread& wanted) {
  std::vector<Region> regions;
  for (const auto& [name, candidates] : all) {
    std::vector<RankedCluster> clusters;
    for (const Candidate& candidate : candidates) {
      clusters.push_back({candidate.is_target, std::min(candidate.available(), kUnlimited)});
    }
    regions.push_back({name, static_cast<int64_t>(candidates.size()), ScoreOf(clusters, wanted)});
  }
  return ChooseRegions(std::move(regions), wanted);
}

// Takes the best cluster of each chosen region, and then the best ones of all of them, up to the
// most clusters that are wanted. As upstream: whether the replicas fit is not looked at here.
absl::StatusOr<Candidates> SelectByRegion(const api::BindingView& binding,
                                          const Candidates& candidates) {
  const json::Value& by_region = ConstraintBy("region", binding.Placement());
  const json::Value& by_cluster = ConstraintBy("cluster", binding.Placement());
  ByRegion all;
  for (const Candidate& candidate : candidates) {
    all[std::string(api::ClusterView(*candidate.cluster).Region())].push_back(candidate);
  }
  const RegionSpread wanted{by_region["minGroups"].AsInt(), by_region["maxGroups"].AsInt(),
                            by_cluster["minGroups"].AsInt(), binding.Replicas(),
                            binding.IsDivided()};
  if (static_cast<int64_t>(all.size()) < wanted.least_regions) {
    return absl::FailedPreconditionError(
        "the number of feasible region is less than spreadConstraint.MinGroups");
  }
  const std::vector<std::string> regions = RegionsFor(all, wanted);
  if (regions.empty()) {
    return absl::FailedPreconditionError(
        "the number of clusters is less than the cluster spreadConstraint.MinGroups");
  }
  Candidates chosen, rest;
  for (const std::string& name : regions) {
    const Candidates& region = all[name];
    chosen.push_back(region.front());
    rest.insert(rest.end(), region.begin() + 1, region.end());
  }
  std::sort(rest.begin(), rest.end(), IsBetter);
  const int64_t more = by_cluster["maxGroups"].AsInt() - static_cast<int64_t>(chosen.size());
  for (int64_t i = 0; i < more && i < static_cast<int64_t>(rest.size()); ++i) {
    chosen.push_back(rest[i]);
  }
  // Tiers are filled in their order.
  std::stable_sort(chosen.begin(), chosen.end(),
                   [](const Candidate& a, const Candidate& b) { return a.tier < b.tier; });
  return chosen;
}

}  // namespace

bool IsBetter(const Candidate& a, const Candidate& b) {
  if (a.tier != b.tier) return a.tier < b.tier;
  if (a.is_target != b.is_target) return a.is_target;
  if (a.available() != b.available()) return a.available() > b.available();
  return a.name() < b.name();
}

int64_t AvailableIn(const Candidates& chosen) {
  int64_t sum = 0;
  for (const Candidate& candidate : chosen) sum += std::min(candidate.available(), kUnlimited);
  return sum;
}

bool HasStaticWeight(const json::Value& placement) {
  const json::Value& scheduling = placement["replicaScheduling"];
  if (scheduling["replicaSchedulingType"].AsString() != "Divided") return false;
  if (scheduling["replicaDivisionPreference"].AsString() == "Aggregated") return false;
  return scheduling["weightPreference"]["dynamicWeight"].AsString().empty();
}

absl::StatusOr<Candidates> SelectBySpread(const api::BindingView& binding, Candidates candidates) {
  const json::Value& placement = binding.Placement();
  // As upstream: a static weight names the clusters, so constraints do not count.
  if (HasStaticWeight(placement) || placement["spreadConstraints"].empty()) return candidates;
  if (!ConstraintBy("region", placement).is_null()) return SelectByRegion(binding, candidates);
  const json::Value& by_cluster = ConstraintBy("cluster", placement);
  if (!by_cluster.is_null()) return SelectByCluster(binding, by_cluster, std::move(candidates));
  return absl::FailedPreconditionError("just support cluster and region spread constraint");
}

}  // namespace sandbox
