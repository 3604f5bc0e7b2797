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
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/cluster.h"
#include "api/cluster_affinity.h"
#include "api/toleration.h"
#include "base/status.h"
#include "sandbox/sim/cluster_room.h"
#include "sandbox/sim/replica_division.h"
#include "sandbox/sim/spread_selection.h"

namespace sandbox {
namespace {

using Outcome = Placement::Outcome;

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
  if (HasStaticWeight(binding.Placement())) {
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
  const auto chosen = SelectBySpread(binding, std::move(filtered.candidates));
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
