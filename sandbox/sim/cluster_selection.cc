// A placement takes these steps: filter the clusters by API, taints, affinity, topology and
// evictions, where a cluster that has the binding already keeps it in spite of the first two; sort
// the rest, best first; choose among them by the spread constraints, exchanging chosen ones for
// others until the replicas fit (not where regions are chosen); and divide the replicas. Each step
// may end with an outcome of its own. A workload may overflow into further groups of clusters,
// which are tiers: a tier gets only what the ones before it have no room for. With several
// clusterAffinities the steps are taken for each term, from the one in force on, until one
// succeeds; if none does, the failure of the first one is reported. Karmada v1.19 begins with the
// first term when a rescheduling was asked for, and writes down for each cluster how many replicas
// of each component it gets.

#include "sandbox/sim/cluster_selection.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/cluster.h"
#include "api/cluster_affinity.h"
#include "api/toleration.h"
#include "base/status.h"
#include "sandbox/sim/cluster_room.h"
#include "sandbox/sim/region_spread.h"
#include "sandbox/sim/replica_division.h"

namespace sandbox {
namespace {

using Outcome = Placement::Outcome;

constexpr int64_t kUnlimited = std::numeric_limits<int32_t>::max();

constexpr int kNoTier = -1;

struct Candidate {
  kube::ObjectPtr cluster;
  int64_t assigned = 0;
  bool is_target = false;
  int64_t room = 0;
  // 0 for the affinity itself, i + 1 for its overflow i, kNoTier when none of them matches.
  int tier = 0;

  std::string name() const { return std::string(cluster->name()); }
  int64_t available() const { return room + assigned; }
};
using Candidates = std::vector<Candidate>;

std::string UntoleratedTaint(const kube::Object& cluster, const json::Value& tolerations) {
  const std::vector<api::Toleration> tolerated = api::TolerationsFromJson(tolerations);
  for (const api::Taint& taint : api::ClusterView(cluster).Taints()) {
    if (taint.effect != api::kNoSchedule && taint.effect != api::kNoExecute) continue;
    if (api::Tolerate(tolerated, taint)) continue;
    return absl::StrCat("cluster(s) had untolerated taint {", taint.key, ": ", taint.value, "}");
  }
  return "";
}

std::string MissingTopology(const api::ClusterView& cluster, const json::Value& constraints) {
  for (const json::Value& constraint : constraints.items()) {
    const std::string field = constraint["spreadByField"].ToString();
    const bool missing = (field == "provider" && cluster.Provider().empty()) ||
                         (field == "region" && cluster.Region().empty()) ||
                         (field == "zone" && cluster.Zones().empty());
    // Upstream says it of zones in the plural.
    const absl::string_view what = field == "zone" ? "zones" : absl::string_view(field);
    if (missing) return absl::StrCat("cluster(s) did not have ", what, " property");
  }
  return "";
}

int TierOf(const api::BindingView& binding, const json::Value& affinity,
           const api::ClusterView& cluster) {
  if (api::ClusterAffinity::FromJson(affinity).Matches(cluster)) return 0;
  if (!binding.IsWorkload()) return kNoTier;
  int tier = 0;
  for (const json::Value& overflow : affinity["overflowAffinities"].items()) {
    ++tier;
    if (api::ClusterAffinity::FromJson(overflow).Matches(cluster)) return tier;
  }
  return kNoTier;
}

// Returns why the cluster cannot take the binding; empty when it can.
std::string Obstacle(const api::BindingView& binding, const Candidate& candidate) {
  const api::ClusterView cluster(*candidate.cluster);
  const json::Value& placement = binding.Placement();
  if (!candidate.is_target) {
    if (!cluster.HasApi(binding.Resource().gvk())) {
      return "cluster(s) did not have the API resource";
    }
    const std::string taint = UntoleratedTaint(*candidate.cluster, placement["clusterTolerations"]);
    if (!taint.empty()) return taint;
  }
  if (candidate.tier == kNoTier) {
    return "cluster(s) did not match the placement cluster affinity constraint";
  }
  const std::string topology = MissingTopology(cluster, placement["spreadConstraints"]);
  if (!topology.empty()) return topology;
  for (const api::EvictionTask& task : binding.EvictionTasks()) {
    if (task.from_cluster == cluster.name()) return "cluster(s) is in the process of eviction";
  }
  return "";
}

// What a placement is made from, beside the binding.
struct Circumstances {
  const std::vector<kube::ObjectPtr>& clusters;
  bool fresh = false;
  const SchedulingRules& rules;
};

int64_t Estimate(const api::BindingView& binding, const kube::Object& cluster, bool by_models) {
  if (binding.Replicas() == 0 && binding.Components().empty()) return kUnlimited;
  return RoomIn(cluster, binding.ReplicaRequirements(), by_models);
}

// Orders candidates: by tier, then present targets first, then by room, then by name.
bool IsBetter(const Candidate& a, const Candidate& b) {
  if (a.tier != b.tier) return a.tier < b.tier;
  if (a.is_target != b.is_target) return a.is_target;
  if (a.available() != b.available()) return a.available() > b.available();
  return a.name() < b.name();
}

struct Filtered {
  Candidates candidates;
  std::string error;  // Why there are no candidates.
};

Filtered Filter(const api::BindingView& binding, const json::Value& affinity,
                const Circumstances& given) {
  Filtered out;
  std::map<std::string, int> obstacles;
  const std::vector<api::TargetCluster> targets = binding.Clusters();
  for (const kube::ObjectPtr& cluster : given.clusters) {
    if (cluster->IsDeleting()) continue;
    Candidate candidate{cluster};
    for (const api::TargetCluster& target : targets) {
      if (target.name != cluster->name()) continue;
      candidate.is_target = true;
      candidate.assigned = target.replicas;
    }
    candidate.tier = TierOf(binding, affinity, api::ClusterView(*cluster));
    const std::string obstacle = Obstacle(binding, candidate);
    if (!obstacle.empty()) {
      ++obstacles[obstacle];
      continue;
    }
    candidate.room = Estimate(binding, *cluster, given.rules.models);
    out.candidates.push_back(std::move(candidate));
  }
  std::sort(out.candidates.begin(), out.candidates.end(), IsBetter);
  if (!out.candidates.empty()) return out;
  std::vector<std::string> reasons;
  for (const auto& [reason, count] : obstacles) reasons.push_back(absl::StrCat(count, " ", reason));
  std::sort(reasons.begin(), reasons.end());
  out.error = absl::StrCat("0/", given.clusters.size(), " clusters are available");
  if (!reasons.empty()) absl::StrAppend(&out.error, ": ", absl::StrJoin(reasons, ", "), ".");
  return out;
}

bool IsStaticWeight(const json::Value& placement) {
  const json::Value& scheduling = placement["replicaScheduling"];
  if (scheduling["replicaSchedulingType"].AsString() != "Divided") return false;
  if (scheduling["replicaDivisionPreference"].AsString() == "Aggregated") return false;
  return scheduling["weightPreference"]["dynamicWeight"].AsString().empty();
}

int64_t AvailableIn(const Candidates& chosen) {
  int64_t sum = 0;
  for (const Candidate& candidate : chosen) sum += std::min(candidate.available(), kUnlimited);
  return sum;
}

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

// Applies the spread constraints. As upstream: those by region go before those by cluster, and
// those by zone and provider only leave out clusters that have none (MissingTopology).
absl::StatusOr<Candidates> Select(const api::BindingView& binding, Candidates candidates) {
  const json::Value& placement = binding.Placement();
  // As upstream: a static weight names the clusters, so constraints do not count.
  if (IsStaticWeight(placement) || placement["spreadConstraints"].empty()) return candidates;
  if (!ConstraintBy("region", placement).is_null()) return SelectByRegion(binding, candidates);
  const json::Value& by_cluster = ConstraintBy("cluster", placement);
  if (!by_cluster.is_null()) return SelectByCluster(binding, by_cluster, std::move(candidates));
  return absl::FailedPreconditionError("just support cluster and region spread constraint");
}

std::vector<Party> StaticWeights(const json::Value& rules, const Candidates& candidates) {
  std::vector<Party> parties;
  bool any = false;
  for (const Candidate& candidate : candidates) {
    int64_t weight = 0;
    for (const json::Value& rule : rules.items()) {
      if (!api::ClusterAffinity::FromJson(rule["targetCluster"])
               .Matches(api::ClusterView(*candidate.cluster))) {
        continue;
      }
      weight = std::max(weight, rule["weight"].AsInt());
    }
    parties.push_back({candidate.name(), weight});
    any = any || weight > 0;
  }
  if (!any) {
    for (Party& party : parties) party.weight = 1;
  }
  return parties;
}

absl::StatusOr<std::vector<api::TargetCluster>> Divide(const api::BindingView& binding,
                                                       int64_t replicas,
                                                       const Candidates& candidates, bool fresh) {
  const json::Value& scheduling = binding.Placement()["replicaScheduling"];
  const std::string uid = binding.Resource().uid;
  if (IsStaticWeight(binding.Placement())) {
    const auto parties =
        StaticWeights(scheduling["weightPreference"]["staticWeightList"], candidates);
    return DivideByWeight(replicas, parties, uid);
  }
  std::vector<Capacity> capacities;
  for (const Candidate& candidate : candidates) {
    const int64_t room = std::min(candidate.room, kUnlimited);
    capacities.push_back({candidate.name(), room, candidate.assigned});
  }
  DynamicDivision how;
  how.replicas = replicas;
  how.aggregated = scheduling["replicaDivisionPreference"].AsString() == "Aggregated";
  how.fresh = fresh;
  how.tie_break = uid;
  return DivideByRoom(std::move(capacities), how);
}

bool IsCounted(const api::BindingView& binding) {
  return binding.IsWorkload() && binding.Components().size() <= 1;
}

absl::StatusOr<std::vector<api::TargetCluster>> Assign(const api::BindingView& binding,
                                                       int64_t replicas,
                                                       const Candidates& candidates, bool fresh) {
  const bool counted = IsCounted(binding);
  if (counted && binding.IsDivided()) return Divide(binding, replicas, candidates, fresh);
  std::vector<api::TargetCluster> out;
  for (const Candidate& candidate : candidates) {
    if (counted && replicas == 0) continue;
    out.push_back({candidate.name(), counted ? replicas : 0});
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return out;
}

// Follows upstream's assignWorkloadReplicas. REQUIRES: the candidates are in the order of their
// tiers.
absl::StatusOr<std::vector<api::TargetCluster>> AssignByTier(const api::BindingView& binding,
                                                             const Candidates& candidates,
                                                             bool fresh) {
  std::vector<api::TargetCluster> out;
  int64_t left = binding.Replicas();
  for (auto begin = candidates.begin(); begin != candidates.end() && left > 0;) {
    const auto end = std::find_if(begin, candidates.end(),
                                  [&](const Candidate& c) { return c.tier != begin->tier; });
    const Candidates tier(begin, end);
    begin = end;
    const int64_t some = std::min(left, AvailableIn(tier));
    if (some == 0) continue;
    ASSIGN_OR_RETURN(const std::vector<api::TargetCluster> targets,
                     Assign(binding, some, tier, fresh));
    out.insert(out.end(), targets.begin(), targets.end());
    left -= some;
  }
  if (left == 0) return out;
  return absl::ResourceExhaustedError("Clusters available replicas are not enough to schedule.");
}

Placement Failure(const absl::Status& status) {
  const bool full = absl::IsResourceExhausted(status);
  return {full ? Outcome::kUnschedulable : Outcome::kSchedulerError,
          std::string(status.message()),
          {},
          ""};
}

Placement PlaceByAffinity(const kube::Object& object, const json::Value& affinity,
                          const Circumstances& given) {
  const api::BindingView binding(object);
  if (given.rules.workload_affinity && !object.spec()["workloadAffinityGroups"].empty()) {
    return Failure(absl::UnimplementedError(
        "the sandbox's scheduler does not select clusters by workload affinity"));
  }
  Filtered filtered = Filter(binding, affinity, given);
  if (filtered.candidates.empty()) return {Outcome::kNoClusterFit, filtered.error, {}, ""};
  const auto chosen = Select(binding, std::move(filtered.candidates));
  if (!chosen.ok()) return Failure(chosen.status());
  const bool overflows = !affinity["overflowAffinities"].empty() && IsCounted(binding);
  auto targets = overflows ? AssignByTier(binding, *chosen, given.fresh)
                           : Assign(binding, binding.Replicas(), *chosen, given.fresh);
  if (!targets.ok()) return Failure(targets.status());
  return {Outcome::kSuccess, "Binding has been scheduled successfully.", *std::move(targets),
          affinity["affinityName"].ToString()};
}

// Returns the index of the term of clusterAffinities that is in force.
size_t ObservedTerm(const kube::Object& binding) {
  const json::Value& terms = binding.spec()["placement"]["clusterAffinities"];
  const json::Value& name = binding.status()["schedulerObservingAffinityName"];
  for (size_t i = 0; i < terms.size(); ++i) {
    if (terms.At(i)["affinityName"] == name) return i;
  }
  return 0;
}

Placement PlaceByTerms(const kube::Object& binding, const Circumstances& given) {
  const json::Value& placement = binding.spec()["placement"];
  const json::Value& terms = placement["clusterAffinities"];
  if (terms.empty()) return PlaceByAffinity(binding, placement["clusterAffinity"], given);
  Placement first_failure;
  const bool starts_again = given.fresh && given.rules.release >= config::Release::kV1_19;
  const size_t start = starts_again ? 0 : ObservedTerm(binding);
  for (size_t i = start; i < terms.size(); ++i) {
    Placement result = PlaceByAffinity(binding, terms.At(i), given);
    if (result.outcome == Outcome::kSuccess) return result;
    if (i == start) first_failure = std::move(result);
  }
  return first_failure;
}

// Follows upstream's isMultiTemplateSchedulingApplicable and its use in AssignReplicas: the
// placement asks for exactly one cluster.
bool RecordsComponents(const kube::Object& object, const SchedulingRules& rules) {
  if (rules.release < config::Release::kV1_19 || !rules.components) return false;
  const api::BindingView binding(object);
  if (binding.Components().size() <= 1) return false;
  const auto constraints = binding.Placement()["spreadConstraints"].items();
  return std::any_of(constraints.begin(), constraints.end(), [](const json::Value& constraint) {
    return constraint["spreadByField"].AsString() == "cluster" &&
           constraint["minGroups"].AsInt() == 1 && constraint["maxGroups"].AsInt() == 1;
  });
}

json::Value Shares(const kube::Object& binding) {
  json::Value shares = json::Value::Array();
  for (const json::Value& component : binding.spec()["components"].items()) {
    shares.Append(json::Value::Object(
        {{"name", component["name"]}, {"replicas", component["replicas"].AsInt()}}));
  }
  return shares;
}

}  // namespace

json::Value ObservedAffinity(const kube::Object& binding) {
  const json::Value& placement = binding.spec()["placement"];
  const json::Value& terms = placement["clusterAffinities"];
  return terms.empty() ? placement["clusterAffinity"] : terms.At(ObservedTerm(binding));
}

Placement Place(const kube::Object& binding, const std::vector<kube::ObjectPtr>& clusters,
                bool fresh, const SchedulingRules& rules) {
  Placement placement = PlaceByTerms(binding, {clusters, fresh, rules});
  const bool is_placed = placement.outcome == Outcome::kSuccess;
  if (is_placed && RecordsComponents(binding, rules)) placement.components = Shares(binding);
  return placement;
}

json::Value Placement::ClustersToJson() const {
  json::Value list = api::TargetClustersToJson(clusters);
  for (size_t i = 0; i < list.size() && !components.is_null(); ++i) {
    list.MutableAt(i).Set("components", components);
  }
  return list;
}

}  // namespace sandbox
