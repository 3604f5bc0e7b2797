// Checks of the scheduler's work: whether it looked, and why it chose no cluster, or not this one.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/binding.h"
#include "api/keys.h"
#include "api/programs.h"
#include "api/resources.h"
#include "base/spelling.h"
#include "lens/why/checks.h"
#include "lens/why/obstacles.h"

namespace lens::why {
namespace {

constexpr Step kStep = Step::kScheduling;

// Returns the binding if the scheduler is to place it: dependencies follow their dependents.
const kube::Object* ToSchedule(const Chain& chain) {
  if (chain.binding == nullptr || chain.object == nullptr) return nullptr;
  const api::BindingView view(*chain.binding);
  if (view.Placement().is_null() || chain.binding->IsDeleting()) return nullptr;
  return chain.OwnsBinding() ? chain.binding.get() : nullptr;
}

bool IsPlaced(const kube::Object& binding) { return !api::BindingView(binding).Clusters().empty(); }

Findings SchedulingIsSuspended(const Chain& chain) {
  const kube::Object* binding = ToSchedule(chain);
  if (binding == nullptr || !api::BindingView(*binding).IsSchedulingSuspended()) return {};
  return {{kStep, IsPlaced(*binding) ? Grade::kNote : Grade::kStuck,
           absl::StrCat("scheduling of ", chain.Name(),
                        " is suspended (spec.suspension.scheduling "
                        "of its ",
                        binding->Describe(), ")"),
           "set spec.suspension.scheduling to false, or wait for the controller that set it"}};
}

// The scheduler's last word, if it is a refusal.
const json::Value* Refusal(const kube::Object& binding) {
  const json::Value* scheduled =
      kube::FindCondition(api::BindingView(binding).Conditions(), api::kBindingScheduled);
  const bool refused = scheduled != nullptr && (*scheduled)["status"].AsString() == "False";
  return refused ? scheduled : nullptr;
}

// A scheduler of another name that has looked before may be about to look again.
Findings SchedulerIsUnknown(const Chain& chain) {
  const kube::Object* binding = ToSchedule(chain);
  if (binding == nullptr) return {};
  const api::BindingView view(*binding);
  const absl::string_view name = view.SchedulerName();
  if (name.empty() || name == api::kDefaultSchedulerName || Refusal(*binding) != nullptr) return {};
  if (view.SchedulerObservedGeneration() == binding->generation()) return {};
  const bool was_placed = view.SchedulerObservedGeneration() > 0;
  return {{kStep, was_placed ? Grade::kWaiting : Grade::kStuck,
           absl::StrCat(chain.Name(), " waits for a scheduler named ", name,
                        ", and none of that name has looked at ",
                        was_placed ? "its last change" : "it"),
           absl::StrCat("run that scheduler, or take schedulerName out of the policy; "
                        "karmada-scheduler's own name is ",
                        api::kDefaultSchedulerName)}};
}

// A cluster that the placement names and that does not exist.
std::string UnknownCluster(const Chain& chain, const json::Value& affinity) {
  std::vector<std::string> known;
  for (const auto& [name, cluster] : chain.clusters) known.push_back(name);
  for (const json::Value& item : affinity["clusterNames"].items()) {
    if (chain.clusters.count(item.ToString()) > 0) continue;
    const auto nearest = base::NearestName(item.ToString(), known);
    return absl::StrCat("; there is no cluster ", item.ToString(),
                        nearest ? absl::StrCat(" (did you mean ", known[*nearest], "?)") : "");
  }
  return "";
}

struct Ruled {
  std::string cluster;
  Obstacle obstacle;
};

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

std::string AdviceFor(ObstacleKind kind) {
  switch (kind) {
    case ObstacleKind::kAffinity:
      return "change the affinity, or the labels of a cluster";
    case ObstacleKind::kApi:
      return "install the CustomResourceDefinition in the cluster";
    case ObstacleKind::kTaint:
      return "remove the taint, or tolerate it (clusterTolerations)";
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

// Returns the clusters whose copies replace the evicted one and are not healthy yet.
std::vector<std::string> NotHealthyYet(const Chain& chain, const api::BindingView& binding) {
  std::vector<std::string> names;
  for (const api::TargetCluster& target : binding.Clusters()) {
    const auto work = chain.works.find(target.name);
    const bool healthy =
        work != chain.works.end() && HealthIn(chain, *work->second) == api::kHealthy;
    if (!healthy) names.push_back(target.name);
  }
  return names;
}

// Returns until when the evicted copy stays; "until it is healthy in member2, or until ...".
std::string EvictionEnds(const Chain& chain, const api::BindingView& binding,
                         const api::EvictionTask& task) {
  if (task.PurgesAtOnce()) return "it is removed there at once";
  if (task.json["suppressDeletion"].AsBool()) {
    return "it stays there until somebody confirms the eviction (suppressDeletion)";
  }
  const std::vector<std::string> waits = NotHealthyYet(chain, binding);
  const bool unplaced = binding.Clusters().empty();
  if (waits.empty() && !unplaced) {
    return "it is removed there now, since its replacement is healthy";
  }
  const std::string until =
      unplaced ? "it stays there while no other cluster has been chosen"
               : absl::StrCat("it stays there until it is healthy in ", absl::StrJoin(waits, ", "));
  const auto began = kube::ParseTime(task.json["creationTimestamp"].AsString());
  const int64_t grace = task.json["gracePeriodSeconds"].AsInt();
  if (!began.ok()) return until;
  if (grace <= 0) {
    return absl::StrCat(until, ", at most for --graceful-eviction-timeout from ",
                        kube::FormatTime(*began));
  }
  return absl::StrCat(until, ", at most until ", kube::FormatTime(*began + absl::Seconds(grace)));
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
                                ", or end what it is evicted for, such as a taint of ", from);
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
  if (all.empty()) {
    finding.cause = absl::StrCat("no cluster fits ", chain.Name(), ": no cluster has joined");
    finding.advice = "join one (karmadactl join)";
  } else if (all[0].obstacle.kind == ObstacleKind::kNone) {
    absl::StrAppend(&finding.cause, message);
    finding.advice = "the scheduler tries again when a cluster changes";
  } else if (all[0].obstacle.kind == ObstacleKind::kAffinity) {
    const json::Value& affinity = api::BindingView(binding).Placement()["clusterAffinity"];
    absl::StrAppend(&finding.cause, "its cluster affinity matches none of the ", all.size(),
                    all.size() == 1 ? " cluster" : " clusters", UnknownCluster(chain, affinity));
    finding.advice = AdviceFor(ObstacleKind::kAffinity);
  } else if (all[0].obstacle.kind == ObstacleKind::kEviction) {
    ExplainByEviction(chain, binding, all, finding);
  } else {
    absl::StrAppend(&finding.cause, all[0].cluster, " ", all[0].obstacle.text);
    finding.advice = AdviceFor(all[0].obstacle.kind);
  }
  return finding;
}

Finding ExplainRefusal(const Chain& chain, const kube::Object& binding,
                       const json::Value& refusal) {
  const std::string reason = refusal["reason"].ToString();
  const std::string message = refusal["message"].ToString();
  if (reason == "NoClusterFit") return NoClusterFits(chain, binding, message);
  if (reason == "QuotaExceeded") {
    return {kStep, Grade::kStuck,
            absl::StrCat("a FederatedResourceQuota of the namespace ", chain.asked.key.ns,
                         " leaves no room for ", chain.Name(), ": ", message),
            "raise the quota, or ask for less"};
  }
  if (reason == "Unschedulable") {
    return {kStep, Grade::kStuck,
            absl::StrCat("the clusters have no room for ", api::BindingView(binding).Replicas(),
                         " replicas of ", chain.Name(), ": ", message),
            "ask for fewer or smaller replicas, or allow more clusters"};
  }
  return {kStep, Grade::kStuck,
          absl::StrCat("karmada-scheduler cannot place ", chain.Name(), ": ", message),
          "change what the message says; it is tried again by itself"};
}

// The scheduler does not record which generation it refuses, so that the refusal may be of one
// before the last change as long as the scheduler does not run.
Findings SchedulerRefuses(const Chain& chain) {
  const kube::Object* binding = ToSchedule(chain);
  const json::Value* refusal = binding == nullptr ? nullptr : Refusal(*binding);
  if (refusal == nullptr) return {};
  Finding finding = ExplainRefusal(chain, *binding, *refusal);
  const bool is_observed =
      api::BindingView(*binding).SchedulerObservedGeneration() == binding->generation();
  if (!is_observed) finding.waits_for = Program::kScheduler;
  return {std::move(finding)};
}

Findings ReplicasAreZero(const Chain& chain) {
  const kube::Object* binding = ToSchedule(chain);
  if (binding == nullptr || IsPlaced(*binding) || Refusal(*binding) != nullptr) return {};
  const api::BindingView view(*binding);
  if (view.Replicas() != 0 || view.SchedulerObservedGeneration() == 0 || !view.IsWorkload()) {
    return {};
  }
  return {{kStep, Grade::kStuck,
           absl::StrCat(chain.Name(), " has 0 replicas, so the scheduler gives it to no cluster"),
           "set spec.replicas of the template"}};
}

Findings NotScheduledYet(const Chain& chain) {
  const kube::Object* binding = ToSchedule(chain);
  if (binding == nullptr) return {};
  const api::BindingView view(*binding);
  if (view.IsSchedulingSuspended() || !view.RequiredBy().empty()) return {};
  if (view.SchedulerObservedGeneration() == binding->generation()) return {};
  if (Refusal(*binding) != nullptr) return {};
  return {{kStep,
           Grade::kWaiting,
           IsPlaced(*binding)
               ? absl::StrCat("karmada-scheduler has not looked at the last change of ",
                              binding->Describe(), " yet")
               : absl::StrCat("karmada-scheduler has not placed ", chain.Name(), " yet"),
           "see whether karmada-scheduler runs",
           "",
           {},
           Program::kScheduler}};
}

Findings ClusterIsEvicted(const Chain& chain) {
  if (chain.binding == nullptr) return {};
  Findings findings;
  const api::BindingView binding(*chain.binding);
  for (const api::EvictionTask& task : binding.EvictionTasks()) {
    if (!chain.Concerns(task.from_cluster)) continue;
    if (task.KeepsAway()) {
      findings.push_back({kStep, Grade::kWaiting,
                          absl::StrCat(chain.Name(), " is kept away from ", task.from_cluster,
                                       ": the time for which it tolerates the taints is over"),
                          "take the taint off the cluster, or tolerate it for longer",
                          task.from_cluster});
      continue;
    }
    const std::string reason = task.json["reason"].ToString();
    const std::string message = task.json["message"].ToString();
    findings.push_back(
        {kStep, task.json["suppressDeletion"].AsBool() ? Grade::kStuck : Grade::kWaiting,
         absl::StrCat(chain.Name(), " is being evicted from ", task.from_cluster, " (",
                      reason.empty() ? "no reason given" : reason, ", by ",
                      task.json["producer"].ToString("somebody"), ")",
                      message.empty() ? "" : absl::StrCat(": ", message), "; ",
                      EvictionEnds(chain, binding, task)),
         task.json["suppressDeletion"].AsBool()
             ? "set suppressDeletion of the task in spec.gracefulEvictionTasks to false"
             : "see why the replacement does not become healthy, if it lasts",
         task.from_cluster});
  }
  return findings;
}

// What the scheduler does not place follows the bindings that need it.
Findings FollowersDoNotGoThere(const Chain& chain) {
  if (chain.binding == nullptr || chain.object == nullptr || chain.binding->IsDeleting()) return {};
  if (api::BindingView(*chain.binding).DispatchTargets().empty()) return {};
  return {{kStep, Grade::kStuck,
           absl::StrCat("the cluster ", chain.asked.cluster, " is not among the clusters of ",
                        chain.Name()),
           "look at the bindings that need it: it follows them", chain.asked.cluster}};
}

Findings ClusterIsNotChosen(const Chain& chain) {
  const std::string& asked = chain.asked.cluster;
  const kube::Object* binding = ToSchedule(chain);
  const auto cluster = chain.clusters.find(asked);
  if (asked.empty() || cluster == chain.clusters.end() || !chain.Targets().empty()) return {};
  if (binding == nullptr) return FollowersDoNotGoThere(chain);
  if (!IsPlaced(*binding)) return {};
  Finding finding{kStep, Grade::kStuck, "", "", asked};
  const Obstacle obstacle = ObstacleIn(*binding, *cluster->second);
  finding.cause = absl::StrCat(
      "the cluster ", asked, " is not chosen for ", chain.Name(), ": it ",
      obstacle.kind == ObstacleKind::kNone
          ? "fits, but the placement needs no further cluster (spread constraints, replicas)"
          : obstacle.text);
  finding.advice = AdviceFor(obstacle.kind);
  return {finding};
}

Findings ChosenClusterIsGone(const Chain& chain) {
  if (chain.binding == nullptr || chain.object == nullptr) return {};
  Findings findings;
  for (const api::TargetCluster& target : chain.Targets()) {
    if (chain.clusters.count(target.name) > 0) continue;
    if (!chain.CouldRead(api::Clusters().gvk, {"", target.name})) continue;
    findings.push_back({kStep, Grade::kStuck,
                        absl::StrCat(chain.binding->Describe(), " names the cluster ", target.name,
                                     ", which does not exist"),
                        "join it, or have the binding scheduled anew", target.name});
  }
  return findings;
}

constexpr Check kChecks[] = {
    {"scheduling-suspended", "Is scheduling suspended?", SchedulingIsSuspended},
    {"scheduler-unknown", "Is there a scheduler of that name?", SchedulerIsUnknown},
    {"scheduler-refuses", "Does the scheduler find clusters?", SchedulerRefuses},
    {"replicas-zero", "Are there replicas to be placed?", ReplicasAreZero},
    {"cluster-not-chosen", "Is the cluster among those chosen?", ClusterIsNotChosen},
    {"cluster-gone", "Do the chosen clusters exist?", ChosenClusterIsGone},
    {"not-scheduled", "Has the scheduler seen the last change?", NotScheduledYet},
    {"evicted", "Is a cluster being evicted?", ClusterIsEvicted},
};

}  // namespace

absl::Span<const Check> SchedulingChecks() { return kChecks; }

}  // namespace lens::why
