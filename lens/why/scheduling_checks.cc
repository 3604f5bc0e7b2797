// Checks of the scheduler's work: whether it looked, and why it chose no cluster, or not this one.

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/binding.h"
#include "api/cluster.h"
#include "api/cluster_affinity.h"
#include "api/keys.h"
#include "api/programs.h"
#include "api/resources.h"
#include "api/toleration.h"
#include "lens/why/checks.h"
#include "lens/why/evictions.h"
#include "lens/why/named_clusters.h"
#include "lens/why/obstacles.h"
#include "lens/why/placement.h"

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

// Says of a cluster that is being deleted what keeps it from ending with the template.
Finding LeavesWithIt(const Chain& chain, const kube::Object& cluster) {
  const std::string name(cluster.name());
  Finding finding{kStep, Grade::kStuck,
                  absl::StrCat("the cluster ", name, " is being deleted since ",
                               cluster.metadata()["deletionTimestamp"].AsString(), ", and "),
                  "", name};
  if (chain.works.count(name) > 0) {
    const Removal removal = WhyNotRemoved(chain, name);
    if (removal.why.empty()) finding.grade = Grade::kWaiting;
    absl::StrAppend(&finding.cause, chain.Name(), " has not left it yet", removal.why);
    finding.advice = removal.advice;
    finding.waits_for = Program::kControllerManager;
    return finding;
  }
  const bool suspended = api::BindingView(*chain.binding).IsSchedulingSuspended();
  absl::StrAppend(&finding.cause, chain.binding->Describe(), " still names it",
                  suspended ? ": its scheduling is suspended (spec.suspension.scheduling)" : "");
  if (!suspended) finding.grade = Grade::kWaiting;
  finding.advice =
      suspended ? "set spec.suspension.scheduling to false, or wait for the controller that set it"
                : "see whether karmada-scheduler runs, which takes the cluster out of it";
  finding.waits_for = Program::kScheduler;
  return finding;
}

Findings ClusterLeaves(const Chain& chain) {
  Findings findings;
  if (chain.binding == nullptr || chain.object == nullptr) return findings;
  const std::set<std::string> expected = api::BindingView(*chain.binding).ExpectedClusters();
  for (const auto& [name, cluster] : chain.clusters) {
    const bool concerns_it = expected.count(name) > 0 || chain.works.count(name) > 0;
    if (concerns_it && cluster->IsDeleting()) findings.push_back(LeavesWithIt(chain, *cluster));
  }
  return findings;
}

// What is placed keeps its clusters, and that is all that the suspension does as long as nothing
// else has changed.
Findings SchedulingIsSuspended(const Chain& chain) {
  const kube::Object* binding = ToSchedule(chain);
  if (binding == nullptr || !api::BindingView(*binding).IsSchedulingSuspended()) return {};
  const bool is_placed = IsPlaced(*binding);
  const bool is_behind = is_placed && IsPlacedAsBefore(*binding);
  Finding finding{
      kStep, is_placed && !is_behind ? Grade::kNote : Grade::kStuck,
      absl::StrCat("scheduling of ", chain.Name(),
                   " is suspended (spec.suspension.scheduling of its ", binding->Describe(), ")",
                   is_behind
                       ? ", and its last change has not been scheduled: clusters and replicas "
                         "stay as they were chosen before it"
                       : ""),
      "set spec.suspension.scheduling to false, or wait for the controller that set it"};
  finding.is_wanted = is_behind;
  return {std::move(finding)};
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
           absl::StrCat("run that scheduler; or delete the policy, after which clusters keep what "
                        "they have, and create it again without schedulerName, which cannot be "
                        "changed: karmada-scheduler's own name is ",
                        api::kDefaultSchedulerName)}};
}

// The scheduler does not record which generation it refuses, so that the refusal may be of one
// before the last change as long as the scheduler does not run.
Findings SchedulerRefuses(const Chain& chain) {
  const kube::Object* binding = ToSchedule(chain);
  const json::Value* refusal = binding == nullptr ? nullptr : Refusal(*binding);
  if (refusal == nullptr) return {};
  Finding finding = ExplainSchedulerRefusal(chain, *binding, *refusal);
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
  Finding finding{
      kStep, Grade::kStuck,
      absl::StrCat(chain.Name(), " has 0 replicas, so the scheduler gives it to no cluster"),
      "set spec.replicas of the template"};
  finding.is_wanted = true;
  return {std::move(finding)};
}

Findings NotScheduledYet(const Chain& chain) {
  const kube::Object* binding = ToSchedule(chain);
  if (binding == nullptr) return {};
  const api::BindingView view(*binding);
  if (view.IsSchedulingSuspended() || !view.RequiredBy().empty()) return {};
  if (view.SchedulerObservedGeneration() == binding->generation()) return {};
  if (Refusal(*binding) != nullptr || !SchedulerIsUnknown(chain).empty()) return {};
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
      // Where it has moved to it is what it should be.
      findings.push_back({kStep, IsPlaced(*chain.binding) ? Grade::kNote : Grade::kWaiting,
                          absl::StrCat(chain.Name(), " is kept away from ", task.from_cluster,
                                       ": the time for which it tolerates the taints is over"),
                          "take the taint off the cluster, or tolerate it for longer",
                          task.from_cluster});
      continue;
    }
    const std::string reason = task.json["reason"].ToString();
    const std::string message = task.json["message"].ToString();
    findings.push_back({kStep,
                        task.json["suppressDeletion"].AsBool() ? Grade::kStuck : Grade::kWaiting,
                        absl::StrCat(chain.Name(), " is being evicted from ", task.from_cluster,
                                     " (", reason.empty() ? "no reason given" : reason, ", by ",
                                     task.json["producer"].ToString("somebody"), ")",
                                     message.empty() ? "" : absl::StrCat(": ", message), "; ",
                                     EvictionEnds(chain, binding, task)),
                        task.json["suppressDeletion"].AsBool()
                            ? absl::StrCat("look at it in ", task.from_cluster,
                                           ", and then set suppressDeletion of the task in "
                                           "spec.gracefulEvictionTasks of its ",
                                           chain.binding->Describe(),
                                           " to false: it is removed there, and ", kWhatIsLost)
                            : "see why the replacement does not become healthy, if it lasts",
                        task.from_cluster});
    if (task.KeepsWork()) findings.back().meanwhile = StaysMeanwhile(task);
  }
  return findings;
}

// Returns the taints of the cluster that evict. Those that say that it is not ready are left to the
// check of that.
std::vector<api::Taint> EvictingTaints(const kube::Object& cluster) {
  std::vector<api::Taint> taints = api::NoExecuteTaints(api::ClusterView(cluster));
  std::erase_if(taints, [](const api::Taint& taint) {
    return taint.key == api::kNotReadyTaint || taint.key == api::kUnreachableTaint;
  });
  return taints;
}

// Says of the taint what it will do to the template, or has not done.
Finding StaysWithTaint(const Chain& chain, const std::string& cluster, const api::Taint& taint,
                       absl::Duration left) {
  constexpr char kNeeds[] =
      "--feature-gates=Failover=true and --enable-no-execute-taint-eviction=true";
  Finding finding{kStep, Grade::kNote,
                  absl::StrCat("the cluster ", cluster, " has the taint ", TaintText(taint),
                               ", which the placement "),
                  "take the taint off the cluster, or tolerate it (clusterTolerations)", cluster};
  if (left > absl::ZeroDuration()) {
    absl::StrAppend(&finding.cause, "tolerates until ", kube::FormatTime(chain.now + left), ": ",
                    chain.Name(), " is evicted then, if karmada-controller-manager runs with ",
                    kNeeds);
  } else {
    absl::StrAppend(&finding.cause, "does not tolerate: ", chain.Name(),
                    " stays there, unless karmada-controller-manager runs with ", kNeeds);
    absl::StrAppend(&finding.advice,
                    "; if the template shall leave, start karmada-controller-manager with both");
  }
  return finding;
}

// A taint that evicts, and by which nothing has been evicted: at its time, or never.
Findings TaintWithoutEviction(const Chain& chain) {
  if (chain.binding == nullptr || chain.object == nullptr) return {};
  const api::BindingView binding(*chain.binding);
  const auto tolerations = api::TolerationsFromJson(binding.Placement()["clusterTolerations"]);
  Findings findings;
  for (const api::TargetCluster& target : binding.Clusters()) {
    const auto cluster = chain.clusters.find(target.name);
    if (cluster == chain.clusters.end()) continue;
    const std::vector<api::Taint> taints = EvictingTaints(*cluster->second);
    const absl::Duration left = api::RemainingToleration(taints, tolerations, chain.now);
    if (taints.empty() || left == absl::InfiniteDuration()) continue;
    const auto evicts = std::find_if(taints.begin(), taints.end(), [&](const api::Taint& taint) {
      return !api::Tolerate(tolerations, taint);
    });
    findings.push_back(
        StaysWithTaint(chain, target.name, evicts == taints.end() ? taints[0] : *evicts, left));
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

const json::Value& StaticWeights(const kube::Object& binding) {
  return api::BindingView(binding)
      .Placement()["replicaScheduling"]["weightPreference"]["staticWeightList"];
}

// Returns whether the placement's static weights, if it has any, give the cluster something.
bool HasWeight(const kube::Object& binding, const kube::Object& cluster) {
  const json::Value& weights = StaticWeights(binding);
  const auto& items = weights.items();
  return weights.empty() || std::any_of(items.begin(), items.end(), [&](const json::Value& item) {
           return api::ClusterAffinity::FromJson(item["targetCluster"])
               .Matches(api::ClusterView(cluster));
         });
}

// Returns whether the term of clusterAffinities means the cluster, also as one that it overflows
// into.
bool MeansIt(const json::Value& term, const kube::Object& cluster) {
  const json::Value alone =
      json::Value::Object({{"clusterAffinities", json::Value::Array({term})}});
  const std::vector<api::ClusterAffinity> affinities = api::AffinitiesOf(alone);
  return std::any_of(affinities.begin(), affinities.end(), [&](const api::ClusterAffinity& one) {
    return one.Matches(api::ClusterView(cluster));
  });
}

// Explains by the clusterAffinities why a cluster that fits is not chosen: the scheduler uses one
// of them, and goes on to the next one when its clusters do not suffice. Returns whether it is so.
bool ExplainByTerms(const kube::Object& binding, const kube::Object& cluster, Finding& finding) {
  const auto& terms = api::BindingView(binding).Placement()["clusterAffinities"].items();
  const json::Value& observed = binding.status()["schedulerObservingAffinityName"];
  const auto used = std::find_if(terms.begin(), terms.end(), [&](const json::Value& term) {
    return term["affinityName"] == observed;
  });
  if (used == terms.end() || MeansIt(*used, cluster)) return false;
  const auto its = std::find_if(terms.begin(), terms.end(),
                                [&](const json::Value& term) { return MeansIt(term, cluster); });
  if (its == terms.end()) return false;
  const std::string now = observed.ToString(), other = (*its)["affinityName"].ToString();
  absl::StrAppend(&finding.cause, "fits, but it belongs to ", other, " of the clusterAffinities, ");
  if (its > used) {
    absl::StrAppend(&finding.cause, "which counts only when the clusters of ", now,
                    " do not suffice");
    finding.advice = absl::StrCat("nothing if it is meant so; otherwise add ", cluster.name(),
                                  " to ", now, " in the policy");
  } else {
    absl::StrAppend(&finding.cause, "from which karmada-scheduler has gone on to ", now,
                    ", and it does not go back by itself");
    finding.advice = absl::StrCat(
        "nothing if it may stay where it is; otherwise write another affinityName in place of ",
        now,
        " in the policy, so that the scheduler begins with the first one again: it may leave the "
        "clusters of ",
        now, " then, and ", kWhatIsLost);
  }
  return true;
}

// Says why a cluster that passes all filters is not among the chosen ones.
void ExplainFitting(const Chain& chain, const kube::Object& binding, const kube::Object& cluster,
                    Finding& finding) {
  if (ExplainByTerms(binding, cluster, finding)) return;
  if (UsesAllThatFit(binding)) {
    finding.cause += "fits by now, and karmada-scheduler has not looked again";
    finding.advice = LookAgain(chain);
    return;
  }
  if (!HasWeight(binding, cluster)) {
    const UnknownCluster unknown = FindUnknownCluster(chain, StaticWeights(binding));
    absl::StrAppend(&finding.cause,
                    "fits, but the staticWeightList of the placement does not name it",
                    unknown.text.empty() ? "" : absl::StrCat("; it names ", unknown.text));
    finding.advice = unknown.meant.empty() ? absl::StrCat("add ", cluster.name(),
                                                          " to the staticWeightList of the policy")
                                           : absl::StrCat("write ", unknown.meant, " there");
    return;
  }
  finding.cause +=
      "fits, but the placement needs no further cluster (spread constraints, replicas)";
  const bool spreads = !api::BindingView(binding).Placement()["spreadConstraints"].empty();
  finding.advice =
      spreads ? "raise maxGroups of the spread constraints, or name the cluster in the affinity"
              : "give it more replicas";
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
  finding.cause = absl::StrCat("the cluster ", asked, " is not chosen for ", chain.Name(), ": it ");
  if (obstacle.kind != ObstacleKind::kNone) {
    finding.cause += obstacle.text;
    finding.advice = AdviceFor(chain, obstacle.kind);
  } else {
    ExplainFitting(chain, *binding, *cluster->second, finding);
  }
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
                        "join it, or have the binding scheduled again", target.name});
  }
  return findings;
}

constexpr Check kChecks[] = {
    {"cluster-leaves", "Does a cluster leave that has it?",
     "$ is being deleted and waits for it:", ClusterLeaves},
    {"scheduling-suspended", "Is scheduling suspended?", "its scheduling is suspended",
     SchedulingIsSuspended},
    {"scheduler-unknown", "Is there a scheduler of that name?",
     "it waits for another scheduler:", SchedulerIsUnknown},
    {"scheduler-refuses", "Does the scheduler find clusters?",
     "the scheduler finds no place:", SchedulerRefuses},
    {"replicas-zero", "Are there replicas to be placed?", "it has 0 replicas", ReplicasAreZero},
    {"cluster-not-chosen", "Is the cluster among those chosen?",
     "$ is not chosen:", ClusterIsNotChosen},
    {"cluster-gone", "Do the chosen clusters exist?", "$ does not exist", ChosenClusterIsGone},
    {"not-scheduled", "Has the scheduler seen the last change?",
     "the scheduler has not looked at it yet", NotScheduledYet},
    {"evicted", "Is a cluster being evicted?", "being evicted from $:", ClusterIsEvicted},
    {"taint-without-eviction", "Has a cluster a taint that should evict?",
     "$ has a taint that it does not tolerate:", TaintWithoutEviction},
};

}  // namespace

absl::Span<const Check> SchedulingChecks() { return kChecks; }

}  // namespace lens::why
