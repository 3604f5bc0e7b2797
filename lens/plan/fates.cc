// The fate of a template follows from the difference of its clusters, the scheduler's last word and
// the evictions. Three findings are about more than one template: how much room a cluster has for
// all that comes to it, because the scheduler has counted each alone; what a static assignment of a
// FederatedResourceQuota leaves in a cluster; and what a template needs that does not come along.

#include "lens/plan/fates.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "api/binding_scope.h"
#include "api/eviction.h"
#include "api/federated_resource_quota.h"
#include "api/programs.h"
#include "api/resource_list.h"
#include "api/resources.h"
#include "interpreter/question.h"
#include "sandbox/sim/writes.h"
#include "tool/console.h"

namespace lens::plan {
namespace {

using Findings = std::vector<Finding>;
// Amounts by resource, which may be negative.
using Amounts = std::map<std::string, kube::Quantity>;

bool HasLost(const ClusterChange& change) {
  if (change.action == Action::kDelete || change.action == Action::kRelease) return true;
  return change.replicas_after.value_or(0) < change.replicas_before.value_or(0);
}

bool HasGained(const ClusterChange& change) {
  if (change.action == Action::kCreate) return true;
  return change.action == Action::kChange &&
         change.replicas_after.value_or(0) > change.replicas_before.value_or(0);
}

bool Any(const TemplateChange& change, bool (*holds)(const ClusterChange&)) {
  return std::any_of(change.clusters.begin(), change.clusters.end(), holds);
}

// What the sandbox's scheduler says of a placement that it does not know how to make, such as one
// by workload affinity. That is no refusal: karmada-scheduler may find clusters.
constexpr absl::string_view kBeyondSandbox = "the sandbox's scheduler does not ";

Verdict RefusalOf(const TemplateOutcome& outcome) {
  if (outcome.not_scheduled_reason == "QuotaExceeded") return Verdict::kQuota;
  const bool full = outcome.not_scheduled_reason == "Unschedulable" ||
                    absl::StrContains(outcome.not_scheduled, "no enough resource");
  return full ? Verdict::kNoRoom : Verdict::kPinned;
}

const TemplateOutcome* Find(const Outcome& outcome, const ObjectId& id) {
  const auto found = outcome.find(id);
  return found == outcome.end() ? nullptr : &found->second;
}

// What follows another one is no workload of its own.
bool IsAttached(const TemplateOutcome& outcome) {
  return outcome.policy_kind.empty() && !outcome.required_by.empty();
}

// Returns the clusters in which the template was and is still, although they are lost or it should
// leave them. What follows another template is counted with that.
std::vector<std::string> HeldIn(const TemplateChange& change, const FleetAftermath& aftermath) {
  std::vector<std::string> clusters;
  if (IsAttached(change.outcome)) return clusters;
  for (const ClusterChange& cluster : change.clusters) {
    if (!aftermath.held.contains(cluster.cluster)) continue;
    if (cluster.manifest.empty() || cluster.action == Action::kCreate) continue;
    if (aftermath.DepartureOf(change.id, cluster.cluster) != nullptr) continue;
    clusters.push_back(cluster.cluster);
  }
  return clusters;
}

// Returns whether the template is in a cluster afterwards.
bool IsAnywhere(const TemplateChange& change) {
  return std::any_of(change.clusters.begin(), change.clusters.end(),
                     [](const ClusterChange& cluster) { return !cluster.manifest.empty(); });
}

// Returns whether another scheduler has to place it than the one that is simulated.
bool HasOtherScheduler(const TemplateOutcome& outcome) {
  return !outcome.scheduler.empty() && outcome.scheduler != api::kDefaultSchedulerName;
}

class Teller {
 public:
  explicit Teller(const Story& story) : story_(story) {}

  WhatIf Tell() const {
    WhatIf answer;
    for (const FleetEdit& edit : story_.edits) answer.changes.push_back(edit.ToString());
    answer.notes = story_.aftermath.notes;
    for (const TemplateChange& change : story_.templates) {
      Fate fate{VerdictOf(change), LeavesOf(change), ""};
      fate.why = fate.verdict == Verdict::kStays ? WhyUndecided(change)
                                                 : WhyOf(fate.verdict, change.outcome);
      ++answer.counts[fate.verdict];
      answer.fates[change.id] = std::move(fate);
    }
    answer.evictions_take = story_.aftermath.EvictionsTake(story_.plane.options());
    return answer;
  }

 private:
  static std::string WhyOf(Verdict verdict, const TemplateOutcome& outcome) {
    switch (verdict) {
      case Verdict::kNoRoom:
      case Verdict::kPinned:
      case Verdict::kQuota:
        return outcome.not_scheduled;
      case Verdict::kNotSimulated:
        return HasOtherScheduler(outcome)
                   ? absl::StrCat("its scheduler ", outcome.scheduler, " is not simulated")
                   : outcome.not_scheduled;
      case Verdict::kNowhere:
        if (outcome.is_scheduling_suspended) {
          return "its scheduling is suspended (spec.suspension.scheduling of its binding)";
        }
        return IsAttached(outcome) ? "what needs it has left, too" : "nothing places it again";
      default:
        return "";
    }
  }

  // Returns why the daemon does not know whether it has to leave; "" when it does.
  std::string WhyUndecided(const TemplateChange& change) const {
    for (const std::string& cluster : HeldIn(change, story_.aftermath)) {
      const auto found = story_.aftermath.undecided.find({change.id, cluster});
      if (found != story_.aftermath.undecided.end()) return found->second;
    }
    return "";
  }

  Verdict VerdictOf(const TemplateChange& change) const {
    const bool lost = Any(change, HasLost), gained = Any(change, HasGained);
    const TemplateOutcome* before = Find(story_.before, change.id);
    const bool was_refused = before != nullptr && !before->not_scheduled.empty();
    // Files do not say where a template is that the sandbox cannot place.
    const bool is_beyond = absl::StrContains(change.outcome.not_scheduled, kBeyondSandbox);
    if (is_beyond || (lost && HasOtherScheduler(change.outcome))) return Verdict::kNotSimulated;
    if (!change.outcome.not_scheduled.empty() && (lost || !was_refused)) {
      return RefusalOf(change.outcome);
    }
    if (lost && !gained && !IsAnywhere(change)) return Verdict::kNowhere;
    if (lost) return gained ? Verdict::kMoves : Verdict::kShrinks;
    // Where else it comes to does not help the copy that should leave.
    if (!HeldIn(change, story_.aftermath).empty()) return Verdict::kStays;
    return gained ? Verdict::kSpreads : Verdict::kUnchanged;
  }

  std::vector<Leaving> LeavesOf(const TemplateChange& change) const {
    std::vector<Leaving> leaves;
    for (const ClusterChange& cluster : change.clusters) {
      if (cluster.action != Action::kDelete && cluster.action != Action::kRelease) continue;
      leaves.push_back(LeavingOf(change, cluster.cluster));
    }
    return leaves;
  }

  Leaving LeavingOf(const TemplateChange& change, const std::string& cluster) const {
    Leaving leaving{cluster};
    if (IsAttached(change.outcome)) {
      leaving.how = Leaving::How::kFollows;
      leaving.with = absl::StrJoin(change.outcome.required_by, ", ");
    }
    leaving.is_lost = story_.aftermath.lost.contains(cluster);
    leaving.is_abandoned = story_.aftermath.abandoned.contains(cluster);
    const Departure* departure = story_.aftermath.DepartureOf(change.id, cluster);
    if (departure == nullptr) return leaving;
    leaving.how = api::CurrentPurgeMode(departure->purge_mode) == api::kPurgeDirectly
                      ? Leaving::How::kFirst
                      : Leaving::How::kGradually;
    leaving.after = absl::Ceil(departure->stay, absl::Seconds(1));
    leaving.at_most = story_.plane.options().graceful_eviction_timeout;
    return leaving;
  }

  const Story& story_;
};

// Returns the requests of that many replicas of the template.
api::ResourceList RequestsOf(const TemplateOutcome& outcome, int64_t replicas) {
  api::ResourceList sum;
  const auto one = api::ResourceList::FromJson(outcome.requests);
  if (one.ok()) sum.Add(*one, replicas);
  return sum;
}

void Add(Amounts& out, const api::ResourceList& list, bool minus) {
  for (const auto& [name, amount] : list.amounts()) {
    if (minus) {
      out[name].Sub(amount);
    } else {
      out[name].Add(amount);
    }
  }
}

// Returns what the cluster has more to hold afterwards.
Amounts GrowthIn(const Story& story, const std::string& cluster) {
  Amounts growth;
  for (const auto& [outcomes, minus] : {std::pair(&story.before, true), {&story.after, false}}) {
    for (const auto& [id, outcome] : *outcomes) {
      const auto share = outcome.clusters.find(cluster);
      if (share == outcome.clusters.end()) continue;
      const int64_t replicas = share->second.replicas.value_or(0);
      Add(growth, RequestsOf(outcome, replicas), minus);
      auto& pods = growth["pods"];
      minus ? pods.Sub(kube::Quantity::FromInt(replicas))
            : pods.Add(kube::Quantity::FromInt(replicas));
    }
  }
  return growth;
}

kube::Quantity FreeIn(const kube::Object& cluster, const std::string& resource) {
  const json::Value& summary = cluster.status()["resourceSummary"];
  const auto amount = [&](absl::string_view part) {
    return kube::Quantity::FromJson(summary[part][resource]).value_or(kube::Quantity());
  };
  kube::Quantity left = amount("allocatable");
  left.Sub(amount("allocated"));
  left.Sub(amount("allocating"));
  return left;
}

std::string RoomText(const std::string& resource, const kube::Quantity& more,
                     const kube::Quantity& left) {
  if (left.Sign() < 0) {
    kube::Quantity lacking = more;
    lacking.Sub(left);
    return absl::StrCat("what is there and what comes there asks for ", lacking.ToString(),
                        " more of ", resource, " than there is");
  }
  return absl::StrCat("what comes there asks for ", more.ToString(), " of ", resource, ", and ",
                      left.ToString(), " is free: pods will wait for room");
}

// Clusters that get more than they have room for.
void AddOverfull(const Story& story, Findings& out) {
  const auto clusters =
      story.plane.backend().List(api::Clusters().gvr(), "", kube::LabelSelector());
  if (!clusters.ok()) return;
  for (const kube::ObjectPtr& cluster : *clusters) {
    const std::string name(cluster->name());
    Amounts growth = GrowthIn(story, name);
    std::erase_if(growth, [](const auto& entry) { return entry.second.Sign() <= 0; });
    for (const FleetEdit& edit : story.edits) {
      if (edit.cluster != name) continue;
      for (const auto& [resource, amount] : edit.amounts) growth.try_emplace(resource);
    }
    for (const auto& [resource, more] : growth) {
      const kube::Quantity left = FreeIn(*cluster, resource);
      if (!(left < more)) continue;
      out.push_back(
          {{}, finding::kNoRoom, absl::StrCat("Cluster ", name), RoomText(resource, more, left)});
    }
  }
}

Amounts UsedBy(const Outcome& outcomes, const std::string& ns, const std::string& cluster) {
  Amounts used;
  for (const auto& [id, outcome] : outcomes) {
    const auto share = outcome.clusters.find(cluster);
    if (id.ns != ns || share == outcome.clusters.end()) continue;
    const int64_t replicas = share->second.replicas.value_or(0);
    Add(used, RequestsOf(outcome, replicas), false);
    used["pods"].Add(kube::Quantity::FromInt(replicas));
  }
  return used;
}

void CheckAssignment(const Story& story, const kube::Object& quota, const std::string& cluster,
                     Findings& out) {
  const api::FederatedResourceQuotaView view(quota);
  const auto limits = api::ResourceList::FromJson(view.HardFor(cluster));
  if (!limits.ok()) return;
  const std::string ns(quota.ns());
  const Amounts before = UsedBy(story.before, ns, cluster);
  const Amounts after = UsedBy(story.after, ns, cluster);
  for (const auto& [name, limit] : limits->amounts()) {
    const std::string resource(absl::StripPrefix(name, "requests."));
    const auto used = after.find(resource);
    if (used == after.end() || !(limit < used->second)) continue;
    const auto was = before.find(resource);
    if (was != before.end() && limit < was->second) continue;
    out.push_back({{},
                   finding::kQuota,
                   quota.Describe(),
                   absl::StrCat("it gives ", limit.ToString(), " of ", name, " in ", cluster,
                                ", where workloads of the namespace would ask for ",
                                used->second.ToString(), ": pods will be refused there")});
  }
}

void AddAssignments(const Story& story, Findings& out) {
  const auto quotas =
      story.plane.backend().List(api::FederatedResourceQuotas().gvr(), "", kube::LabelSelector());
  if (!quotas.ok()) return;
  for (const kube::ObjectPtr& quota : *quotas) {
    std::set<std::string> clusters;
    for (const json::Value& item : quota->spec()["staticAssignments"].items()) {
      clusters.insert(item["clusterName"].ToString());
    }
    for (const std::string& cluster : clusters) CheckAssignment(story, *quota, cluster, out);
  }
}

bool IsIn(const Outcome& outcomes, const ObjectId& id, const std::string& cluster) {
  const TemplateOutcome* outcome = Find(outcomes, id);
  if (outcome == nullptr) return false;
  const auto share = outcome->clusters.find(cluster);
  return share != outcome->clusters.end() && !share->second.manifest.empty();
}

std::vector<api::DependentReference> NeedsOf(const Story& story, const TemplateChange& change) {
  const auto answer = interpreter::AnswerAs<json::Value>(story.plane.interpreter().AskOrAssume(
      {.operation = interpreter::Operation::kInterpretDependency,
       .object = change.outcome.object}));
  return answer.ok() ? api::DependenciesFromJson(*answer) : std::vector<api::DependentReference>();
}

// What a template had with it where it was, and has not where it comes to.
void AddLeftBehind(const Story& story, Findings& out) {
  for (const TemplateChange& change : story.templates) {
    if (!Any(change, HasLost) || !Any(change, HasGained)) continue;
    for (const api::DependentReference& reference : NeedsOf(story, change)) {
      const ObjectId id{reference.gvk().group, reference.kind, reference.ns, reference.name};
      const bool was_there =
          std::any_of(change.clusters.begin(), change.clusters.end(), [&](const auto& cluster) {
            return HasLost(cluster) && IsIn(story.before, id, cluster.cluster);
          });
      for (const ClusterChange& cluster : change.clusters) {
        if (!was_there || !HasGained(cluster) || IsIn(story.after, id, cluster.cluster)) continue;
        out.push_back({change.place, finding::kLeftBehind, change.id.ToString(),
                       absl::StrCat("it needs ", reference.Describe(), ", which does not come to ",
                                    cluster.cluster, " with it")});
      }
    }
  }
}

std::string RunsIn(const TemplateChange& change) {
  std::vector<std::string> clusters;
  for (const ClusterChange& cluster : change.clusters) {
    if (cluster.manifest.empty()) continue;
    const auto replicas = cluster.replicas_after;
    clusters.push_back(replicas.has_value() ? absl::StrCat(cluster.cluster, " (",
                                                           tool::Count(*replicas, "replica"), ")")
                                            : cluster.cluster);
  }
  return clusters.empty() ? "it runs in no cluster then"
                          : absl::StrCat("it runs in ", absl::StrJoin(clusters, ", "), " then");
}

std::string WhyTheyStay(bool is_undecided, size_t count, const std::string& held) {
  if (is_undecided) return count == 1 ? kOneUndecided : kUndecided;
  return count == 1 && held == kTolerated ? kOneTolerated : held;
}

void AddFates(const Story& story, const WhatIf& answer, Findings& out) {
  std::map<std::pair<std::string, bool>, size_t> staying;  // By cluster, and whether undecided.
  for (const TemplateChange& change : story.templates) {
    const Fate& fate = answer.fates.at(change.id);
    const auto add = [&](const char* code, absl::string_view text) {
      out.push_back({change.place, code, change.id.ToString(),
                     absl::StrCat(text, ", and ", RunsIn(change), ": ", fate.why)});
    };
    if (fate.verdict == Verdict::kNoRoom) add(finding::kNoRoom, "there is no room for all of it");
    if (fate.verdict == Verdict::kPinned) add(finding::kPinned, "its placement cannot be met");
    if (fate.verdict == Verdict::kQuota) add(finding::kQuota, "a quota refuses its placement");
    if (fate.verdict == Verdict::kNowhere && !IsAttached(change.outcome)) {
      add(finding::kNowhere, "nothing places it elsewhere");
    }
    if (fate.verdict == Verdict::kNotSimulated) {
      out.push_back(
          {change.place, finding::kNotSimulated, change.id.ToString(),
           absl::StrCat(Any(change, HasLost)
                            ? "it leaves a cluster, and a plan does not show where it goes"
                            : "a plan does not show where it is placed",
                        ": ", fate.why)});
    }
    // Whatever becomes of it elsewhere.
    for (const std::string& cluster : HeldIn(change, story.aftermath)) {
      ++staying[{cluster, story.aftermath.undecided.contains({change.id, cluster})}];
    }
  }
  for (const auto& [where, count] : staying) {
    const auto& [cluster, is_undecided] = where;
    out.push_back(
        {{},
         finding::kStays,
         absl::StrCat("Cluster ", cluster),
         absl::StrCat(
             tool::Count(count, "template"), " ", count == 1 ? "stays" : "stay",
             " there: ", WhyTheyStay(is_undecided, count, story.aftermath.held.at(cluster)))});
  }
}

}  // namespace

WhatIf WhatIfOf(const Story& story) { return Teller(story).Tell(); }

std::vector<Finding> FindingsOf(const Story& story, const WhatIf& answer) {
  Findings findings;
  AddFates(story, answer, findings);
  AddOverfull(story, findings);
  AddAssignments(story, findings);
  AddLeftBehind(story, findings);
  std::sort(findings.begin(), findings.end());
  return findings;
}

}  // namespace lens::plan
