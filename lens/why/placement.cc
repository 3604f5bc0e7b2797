// The scheduler's message names no cluster and few numbers. Both are found again: which clusters
// pass its filters, how many the spread constraints want, and what the Clusters' statuses leave for
// one replica. Where these do not bear the refusal out, the message stands as it is.

#include "lens/why/placement.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/cluster.h"
#include "api/keys.h"
#include "api/resources.h"
#include "kube/meta/quantity.h"
#include "lens/why/evictions.h"
#include "lens/why/named_clusters.h"

namespace lens::why {
namespace {

constexpr Step kStep = Step::kScheduling;
constexpr size_t kRoomsShown = 3;

struct Ruled {
  std::string cluster;
  Obstacle obstacle;
};

// Returns all clusters, the nearest to being chosen last of all obstacles first.
std::vector<Ruled> ObstaclesOf(const Chain& chain, const kube::Object& binding) {
  std::vector<Ruled> all;
  for (const auto& [name, cluster] : chain.clusters) {
    all.push_back({name, ObstacleIn(binding, *cluster)});
  }
  std::stable_sort(all.begin(), all.end(), [](const Ruled& a, const Ruled& b) {
    return a.obstacle.kind > b.obstacle.kind;
  });
  return all;
}

std::vector<std::string> Fitting(const std::vector<Ruled>& all) {
  std::vector<std::string> names;
  for (const Ruled& ruled : all) {
    if (ruled.obstacle.kind == ObstacleKind::kNone) names.push_back(ruled.cluster);
  }
  return names;
}

std::string Listed(const std::vector<std::string>& names) {
  return names.empty() ? "none" : absl::StrJoin(names, ", ");
}

// Explains a refusal by the eviction from the one cluster that comes near.
void ExplainByEviction(const Chain& chain, const kube::Object& binding,
                       const std::vector<Ruled>& all, Finding& finding) {
  const api::BindingView view(binding);
  const std::string& from = all[0].cluster;
  const bool others_excluded = std::all_of(all.begin() + 1, all.end(), [](const Ruled& ruled) {
    return ruled.obstacle.kind == ObstacleKind::kAffinity;
  });
  absl::StrAppend(&finding.cause, from, " ", all[0].obstacle.text);
  for (const api::EvictionTask& task : view.EvictionTasks()) {
    if (task.from_cluster != from) continue;
    absl::StrAppend(&finding.cause, " (", task.json["reason"].ToString("no reason given"), ", by ",
                    task.json["producer"].ToString("somebody"), ")",
                    others_excluded ? ", and its cluster affinity allows no other one" : "");
    if (!task.KeepsAway()) {
      absl::StrAppend(&finding.cause, "; ", EvictionEnds(chain, view, task));
    }
  }
  finding.advice = absl::StrCat(others_excluded ? "allow another cluster in the policy"
                                                : "see what keeps it from the other clusters",
                                HowToStay(chain, view, from));
}

// Returns "region=nowhere" for a label selector that consists of such labels; its JSON otherwise.
std::string LabelsText(const json::Value& selector) {
  if (!selector["matchExpressions"].empty()) return json::Write(selector);
  std::vector<std::string> labels;
  for (const json::Member& m : selector["matchLabels"].members()) {
    labels.push_back(absl::StrCat(m.name(), "=", m.value.AsString()));
  }
  return absl::StrJoin(labels, ",");
}

// Returns "provider In aws, zone NotIn a b" for a field selector.
std::string FieldsText(const json::Value& selector) {
  std::vector<std::string> fields;
  for (const json::Value& item : selector["matchExpressions"].items()) {
    std::string field = absl::StrCat(item["key"].AsString(), " ", item["operator"].AsString());
    for (const json::Value& value : item["values"].items()) {
      absl::StrAppend(&field, " ", value.AsString());
    }
    fields.push_back(std::move(field));
  }
  return absl::StrJoin(fields, ", ");
}

// Returns why one affinity matches no cluster, and puts into `advice` what to do; "" when no single
// part of it is the reason.
std::string WhyNoMatch(const Chain& chain, const json::Value& affinity, std::string& advice) {
  const UnknownCluster unknown = FindUnknownCluster(chain, affinity);
  if (!unknown.text.empty()) {
    advice = unknown.meant.empty() ? "join that cluster, or allow another one in the policy"
                                   : absl::StrCat("write ", unknown.meant, " there");
    return absl::StrCat("the placement names ", unknown.text);
  }
  const auto& names = affinity["clusterNames"].items();
  const auto is_excluded = [&](const json::Value& name) {
    const auto& excluded = affinity["exclude"].items();
    return std::find(excluded.begin(), excluded.end(), name) != excluded.end();
  };
  if (!names.empty() && std::all_of(names.begin(), names.end(), is_excluded)) {
    advice = "take it out of exclude, or allow another cluster";
    return absl::StrCat("its cluster affinity excludes each cluster that it names (",
                        names[0].AsString(), ")");
  }
  if (!names.empty() || affinity.Has("labelSelector") == affinity.Has("fieldSelector")) return "";
  if (affinity.Has("labelSelector")) {
    return absl::StrCat("no cluster has the labels of its cluster affinity (",
                        LabelsText(affinity["labelSelector"]), ")");
  }
  advice =
      "change the affinity, or the fields of a cluster (spec.provider, spec.region, spec.zones)";
  return absl::StrCat("no cluster has the fields of its cluster affinity (",
                      FieldsText(affinity["fieldSelector"]), ")");
}

// Explains a placement of whose affinities none matches a cluster by what in the first one that
// says so matches none.
void ExplainByAffinity(const Chain& chain, const kube::Object& binding, Finding& finding) {
  const json::Value& placement = api::BindingView(binding).Placement();
  finding.advice = "change the affinity, or the labels of a cluster";
  std::string why = WhyNoMatch(chain, placement["clusterAffinity"], finding.advice);
  for (const json::Value& affinity : placement["clusterAffinities"].items()) {
    if (why.empty()) why = WhyNoMatch(chain, affinity, finding.advice);
  }
  const size_t count = chain.clusters.size();
  absl::StrAppend(&finding.cause, !why.empty()
                                      ? why
                                      : absl::StrCat("its cluster affinity matches none of the ",
                                                     count, count == 1 ? " cluster" : " clusters"));
}

// Explains a placement for which no cluster fits by the cluster that came nearest.
Finding NoClusterFits(const Chain& chain, const kube::Object& binding, const std::string& message) {
  Finding finding{kStep, Grade::kStuck, absl::StrCat("no cluster fits ", chain.Name(), ": ")};
  finding.evidence.push_back(absl::StrCat("karmada-scheduler: ", message));
  const std::vector<Ruled> all = ObstaclesOf(chain, binding);
  if (!chain.CouldRead(api::Clusters().gvk)) {
    absl::StrAppend(&finding.cause, message);
    return finding;
  }
  for (const Ruled& ruled : all) {
    if (ruled.obstacle.kind == ObstacleKind::kNone) continue;
    finding.evidence.push_back(absl::StrCat(ruled.cluster, " ", ruled.obstacle.text));
  }
  std::vector<std::string> kept;
  for (const api::TargetCluster& target : api::BindingView(binding).Clusters()) {
    kept.push_back(target.name);
  }
  finding.evidence.push_back(
      kept.empty()
          ? absl::StrCat(chain.Name(), " is meant for no cluster now; those that had it lose it")
          : absl::StrCat("until then it stays in ", absl::StrJoin(kept, ", ")));
  const std::vector<std::string> fitting = Fitting(all);
  if (all.empty()) {
    finding.cause = absl::StrCat("no cluster fits ", chain.Name(), ": no cluster has joined");
    finding.advice = "join one (karmadactl join)";
  } else if (!fitting.empty()) {
    // What the scheduler has seen has changed since; that a cluster serves a kind wakes it not.
    finding.cause =
        absl::StrCat(Listed(fitting), fitting.size() == 1 ? " fits " : " fit ", chain.Name(),
                     " by now, but karmada-scheduler found no cluster when it looked, "
                     "and does not look again by itself");
    finding.advice = LookAgain(chain);
  } else if (all[0].obstacle.kind == ObstacleKind::kAffinity) {
    ExplainByAffinity(chain, binding, finding);
  } else if (all[0].obstacle.kind == ObstacleKind::kEviction) {
    ExplainByEviction(chain, binding, all, finding);
  } else {
    absl::StrAppend(&finding.cause, all[0].cluster, " ", all[0].obstacle.text);
    finding.advice = AdviceFor(chain, all[0].obstacle.kind);
  }
  return finding;
}

// Returns what the field by which a placement spreads has in the cluster.
std::vector<std::string> GroupsOf(const Chain& chain, const std::string& cluster,
                                  const std::string& field) {
  const auto found = chain.clusters.find(cluster);
  if (field == "cluster") return {cluster};
  if (found == chain.clusters.end()) return {};
  const api::ClusterView view(*found->second);
  if (field == "zone") return view.Zones();
  if (field == "region") return {std::string(view.Region())};
  if (field == "provider") return {std::string(view.Provider())};
  return {};
}

// Explains that the placement wants more clusters, regions, ... than fit; "" when it does not.
std::string TooFewGroups(const Chain& chain, const kube::Object& binding, Finding& finding) {
  const std::vector<Ruled> all = ObstaclesOf(chain, binding);
  const json::Value& placement = api::BindingView(binding).Placement();
  for (const json::Value& constraint : placement["spreadConstraints"].items()) {
    const std::string field = constraint["spreadByField"].ToString("cluster");
    std::set<std::string> groups;
    for (const std::string& cluster : Fitting(all)) {
      for (std::string& group : GroupsOf(chain, cluster, field)) groups.insert(std::move(group));
    }
    const int64_t wanted = constraint["minGroups"].AsInt();
    if (static_cast<int64_t>(groups.size()) >= wanted) continue;
    for (const Ruled& ruled : all) {
      if (ruled.obstacle.kind == ObstacleKind::kNone) continue;
      finding.evidence.push_back(absl::StrCat(ruled.cluster, " ", ruled.obstacle.text));
    }
    finding.advice =
        groups.empty()
            ? "allow more clusters, or see below what keeps each of them out"
            : absl::StrCat("write minGroups: ", groups.size(), " there, or allow more clusters");
    // What keeps a cluster out that the affinity means may have been forgotten there.
    const auto kept_out = std::find_if(all.begin(), all.end(), [](const Ruled& ruled) {
      return ruled.obstacle.kind > ObstacleKind::kAffinity;
    });
    if (kept_out != all.end()) {
      const std::string mend = AdviceFor(chain, kept_out->obstacle.kind);
      if (!mend.empty()) finding.advice = absl::StrCat(mend, "; otherwise ", finding.advice);
    }
    return absl::StrCat(
        "the placement of ", chain.Name(), " wants at least ", wanted, " ", field,
        "s (spreadConstraints), and ", groups.size(), groups.size() == 1 ? " fits" : " fit",
        groups.empty() ? "" : absl::StrCat(": ", absl::StrJoin(groups, ", ")),
        kept_out == all.end()
            ? ""
            : absl::StrCat(" (", kept_out->cluster, " ", kept_out->obstacle.text, ")"));
  }
  return "";
}

kube::Quantity QuantityIn(const json::Value& list, absl::string_view resource) {
  return kube::Quantity::FromJson(list[resource]).value_or(kube::Quantity());
}

// Returns what the Cluster's status leaves of the resource; nothing when it does not say so.
std::optional<kube::Quantity> Left(const kube::Object& cluster, absl::string_view resource) {
  const json::Value& summary = cluster.status()["resourceSummary"];
  if (summary["allocatable"].empty()) return std::nullopt;
  kube::Quantity left = QuantityIn(summary["allocatable"], resource);
  left.Sub(QuantityIn(summary["allocated"], resource));
  left.Sub(QuantityIn(summary["allocating"], resource));
  // Pods that wait for room count as allocating, too.
  return left.Sign() < 0 ? kube::Quantity() : left;
}

// What a cluster has room for.
struct Room {
  int64_t replicas = 0;
  std::string resource;  // The one that runs out first.
  kube::Quantity left;
};

std::optional<Room> RoomIn(const kube::Object& cluster, const json::Value& request) {
  std::optional<Room> room;
  for (const json::Member& m : request.members()) {
    const kube::Quantity one = QuantityIn(request, m.name());
    const std::optional<kube::Quantity> left = Left(cluster, m.name());
    if (!left.has_value() || one.Sign() <= 0) continue;
    const double fits = std::max(0.0, left->AsApproximateFloat() / one.AsApproximateFloat());
    const auto replicas = static_cast<int64_t>(std::min(fits, 1e9));
    if (!room || replicas < room->replicas) room = Room{replicas, std::string(m.name()), *left};
  }
  return room;
}

// Says what one replica asks for and what the clusters have left; "" when they have room enough by
// their statuses, or do not say so.
std::string RoomText(const Chain& chain, const kube::Object& binding) {
  const api::BindingView view(binding);
  const json::Value& request = view.ReplicaRequirements()["resourceRequest"];
  std::vector<std::string> rooms;
  std::string asks;
  int64_t fits = 0;
  const std::vector<std::string> fitting = Fitting(ObstaclesOf(chain, binding));
  for (const std::string& cluster : fitting) {
    const std::optional<Room> room = RoomIn(*chain.clusters.at(cluster), request);
    if (!room) return "";
    fits += room->replicas;
    if (asks.empty()) {
      asks = absl::StrCat(QuantityIn(request, room->resource).ToString(), " ", room->resource);
    }
    rooms.push_back(
        absl::StrCat(cluster, " has ", room->left.ToString(), " ", room->resource, " left"));
  }
  if (rooms.empty() || fits >= view.Replicas()) return "";
  const size_t more = rooms.size() > kRoomsShown ? rooms.size() - kRoomsShown : 0;
  rooms.resize(rooms.size() - more);
  return absl::StrCat("one asks for ", asks, ", and ", absl::StrJoin(rooms, ", "),
                      more > 0 ? absl::StrCat(" and ", more, " more have as little") : "");
}

}  // namespace

Finding ExplainSchedulerRefusal(const Chain& chain, const kube::Object& binding,
                                const json::Value& refusal) {
  const std::string reason = refusal["reason"].ToString();
  const std::string message = refusal["message"].ToString();
  if (reason == "NoClusterFit") return NoClusterFits(chain, binding, message);
  Finding finding{kStep, Grade::kStuck};
  finding.evidence.push_back(absl::StrCat("karmada-scheduler: ", message));
  if (reason == "QuotaExceeded") {
    const std::string quota = QuotaIn(message);
    finding.cause = absl::StrCat("a FederatedResourceQuota of the namespace ", chain.asked.key.ns,
                                 " leaves no room for ", chain.Name(), ": ", message);
    finding.advice = absl::StrCat(
        "raise ", quota.empty() ? "the quota" : absl::StrCat("spec.overall of ", quota),
        ", or ask for less");
    return finding;
  }
  if (absl::StrContains(message, "MinGroups") && chain.CouldRead(api::Clusters().gvk)) {
    finding.cause = TooFewGroups(chain, binding, finding);
    if (!finding.cause.empty()) return finding;
  }
  if (reason == "Unschedulable") {
    const std::string room = RoomText(chain, binding);
    finding.cause =
        absl::StrCat("the clusters have no room for ", api::BindingView(binding).Replicas(),
                     " replicas of ", chain.Name(), ": ", room.empty() ? message : room);
    finding.advice = "ask for fewer or smaller replicas, or allow more clusters";
    return finding;
  }
  finding.cause = absl::StrCat("karmada-scheduler cannot place ", chain.Name(), ": ", message);
  finding.advice = "change what the message says; it is tried again by itself";
  return finding;
}

bool UsesAllThatFit(const kube::Object& binding) {
  const api::BindingView view(binding);
  const bool is_divided = view.IsDivided() && view.IsWorkload() && view.Components().size() <= 1;
  return view.Placement()["spreadConstraints"].empty() && !is_divided;
}

std::string LookAgain(const Chain& chain) {
  return absl::StrCat("change the template, for example: ", chain.asked.Kubectl("annotate"),
                      " retry=1 --overwrite; or name it in a WorkloadRebalancer");
}

std::string AdviceFor(const Chain& chain, ObstacleKind kind) {
  switch (kind) {
    case ObstacleKind::kAffinity:
      return "change the affinity, or the labels of a cluster";
    case ObstacleKind::kApi:
      return absl::StrCat(
          "propagate the CustomResourceDefinition with a ClusterPropagationPolicy, or install it "
          "in the cluster; the scheduler does not see that it is there, so ",
          LookAgain(chain));
    case ObstacleKind::kApiVersion:
      return absl::StrCat(
          "add that version to the CustomResourceDefinition in the cluster, beside those that it "
          "serves (to replace the definition by another one would take them away, and the objects "
          "stored in them would be lost to everybody who reads them); the scheduler does not see "
          "that it is there, so ",
          LookAgain(chain));
    case ObstacleKind::kTaint:
      return "remove the taint, or tolerate it (clusterTolerations)";
    case ObstacleKind::kCordoned:
      return "uncordon it (karmadactl uncordon), or allow another cluster in the policy";
    case ObstacleKind::kNotReady:
      return "see why the cluster is not ready";
    case ObstacleKind::kTopology:
      return "set that field of the Cluster";
    case ObstacleKind::kEviction:
      return "wait until the eviction is over";
    default:
      return "";
  }
}

std::string QuotaIn(absl::string_view message) {
  constexpr absl::string_view kBegin = "FederatedResourceQuota(";
  const size_t at = message.find(kBegin);
  const size_t end = at == absl::string_view::npos ? at : message.find(')', at);
  if (end == absl::string_view::npos) return "";
  const size_t begin = at + kBegin.size();
  return absl::StrCat("FederatedResourceQuota ", message.substr(begin, end - begin));
}

bool IsPlacedAsBefore(const kube::Object& binding) {
  if (!IsSchedulingBehind(binding)) return false;
  const api::BindingView view(binding);
  const auto applied = json::Parse(binding.Annotation(api::kAppliedPlacementAnnotation));
  if (applied.ok() && *applied != view.Placement()) return true;
  if (!view.IsWorkload()) return false;
  const json::Value& type = view.Placement()["replicaScheduling"]["replicaSchedulingType"];
  const bool is_divided = type.AsString() == "Divided";
  int64_t sum = 0;
  bool all_have_all = true;
  for (const api::TargetCluster& target : view.Clusters()) {
    sum += target.replicas;
    all_have_all = all_have_all && target.replicas == view.Replicas();
  }
  return is_divided ? sum != view.Replicas() : !all_have_all;
}

}  // namespace lens::why
