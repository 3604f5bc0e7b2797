// Checks of what has arrived: what a rule keeps as a member has it, what is paused, and which
// clusters a placement names and does not use; and what an agent reports of a cluster that does not
// answer from here. All but the first, and a report that is behind, are notes: the template is
// where it is meant to be, and its present state is.

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/binding.h"
#include "api/keys.h"
#include "api/reasons.h"
#include "api/repeated_drift.h"
#include "api/resources.h"
#include "api/work.h"
#include "lens/why/checks.h"
#include "lens/why/health.h"
#include "lens/why/named_clusters.h"
#include "lens/why/obstacles.h"
#include "lens/why/placement.h"
#include "lens/why/places.h"
#include "lens/why/reported.h"
#include "lens/why/retained.h"

namespace lens::why {
namespace {

// A rule that keeps all of a part of the object lets no edit of it through; one that keeps single
// fields does what it is for.
Findings RetainHoldsItBack(const Chain& chain) {
  Findings findings;
  if (chain.object == nullptr) return findings;
  for (const api::TargetCluster& target : chain.Targets()) {
    const auto work = chain.works.find(target.name);
    if (work == chain.works.end() || !api::WorkView(*work->second).IsApplied()) continue;
    const Held held = HeldIn(chain, target.name);
    if (held.paths.empty()) continue;
    const std::string rule = absl::StrCat("the Retain of the customization ", held.customization);
    if (held.whole.empty()) {
      findings.push_back({Step::kMember, Grade::kNote,
                          absl::StrCat(rule, " keeps ", Some(held.paths), " of ", chain.Name(),
                                       " as ", target.name,
                                       " has it, which is not what the "
                                       "template says"),
                          "nothing if the member shall determine that; otherwise change the rule",
                          target.name});
      continue;
    }
    findings.push_back(
        {Step::kMember, Grade::kStuck,
         absl::StrCat("the present state of ", chain.Name(), " does not arrive in ", target.name,
                      ": ", rule, " keeps all of its ", held.whole, " as the member has it (",
                      Some(held.paths), ")"),
         absl::StrCat(
             "have spec.customizations.retention of ResourceInterpreterCustomization ",
             held.customization,
             " copy only the fields that the member determines into desiredObj, and return "
             "that; karmada-interpret run --operation Retain shows what it makes"),
         target.name});
  }
  return findings;
}

// How long an event about a fight over fields is worth showing.
constexpr absl::Duration kDriftIsNews = absl::Minutes(20);

std::string AdviceForFight(const Chain& chain, absl::string_view message) {
  const std::string find_out = "find out what changes it";
  const absl::string_view kind = chain.asked.gvk.kind;
  const bool keeps_replicas = chain.asked.gvk.group == "apps" &&
                              (kind == "Deployment" || kind == "StatefulSet") &&
                              absl::StrContains(message, "spec.replicas");
  if (!keeps_replicas) {
    return absl::StrCat(find_out, "; the interpreter's documentation shows how a field is kept");
  }
  return absl::StrCat(
      find_out, "; if it is an autoscaler that shall determine the replicas there: ",
      chain.asked.Kubectl("label"), " ", api::kRetainReplicasLabel, "=", api::kRetainReplicasValue);
}

Findings MemberObjectIsFoughtOver(const Chain& chain) {
  if (chain.binding == nullptr) return {};
  const kube::ObjectPtr event = LastEvent(chain, *chain.binding, {api::reason::kRepeatedDrift});
  if (event == nullptr || chain.now - EventTime(*event) > kDriftIsNews) return {};
  const std::string message = event->root()["message"].ToString();
  return {{Step::kMember, Grade::kNote, message, AdviceForFight(chain, message)}};
}

// What an override policy has stand still in a cluster.
Findings IsOverriddenToPause(const Chain& chain) {
  return ForEachPlace(chain, [&](const Place& place) -> Finding {
    const Standstill standstill = StandstillIn(chain, place.work);
    if (standstill.overrides.empty()) return {};
    const bool is_paused = standstill.field == "paused";
    return {Step::kMember, Grade::kNote,
            absl::StrCat(chain.Name(), is_paused ? " is paused in " : " is suspended in ",
                         place.cluster, " (spec.", standstill.field, " of ", standstill.overrides,
                         "), which ",
                         is_paused ? "makes no Pods of a changed template" : "runs nothing of it"),
            AdviceForStandstill(standstill)};
  });
}

Findings WorkloadIsPaused(const Chain& chain) {
  if (chain.object == nullptr || chain.binding == nullptr) return {};
  const json::Value& spec = chain.object->spec();
  const kube::Gvk& gvk = chain.asked.gvk;
  if (gvk.group == "apps" && gvk.kind == "Deployment" && spec["paused"].AsBool()) {
    return {{Step::kMember, Grade::kNote,
             absl::StrCat(chain.Name(),
                          " is paused (spec.paused of the template), so members make no Pods of a "
                          "changed template"),
             AdviceForPaused(chain)}};
  }
  if (gvk.group == "batch" && spec["suspend"].AsBool()) {
    return {{Step::kMember, Grade::kNote,
             absl::StrCat(chain.Name(),
                          " is suspended (spec.suspend of the template), so members run nothing of "
                          "it"),
             "set spec.suspend of the template to false when it shall run"}};
  }
  return IsOverriddenToPause(chain);
}

Findings NamedClusterIsNotUsed(const Chain& chain) {
  if (chain.binding == nullptr || chain.object == nullptr || !chain.asked.cluster.empty()) {
    return {};
  }
  const api::BindingView binding(*chain.binding);
  const json::Value& placement = binding.Placement();
  if (placement.is_null() || binding.Clusters().empty()) return {};
  if (!chain.CouldRead(api::Clusters().gvk)) return {};
  Findings findings;
  const UnknownCluster unknown = FindUnknownCluster(chain, placement);
  if (!unknown.text.empty()) {
    findings.push_back({Step::kScheduling, Grade::kNote,
                        absl::StrCat("the placement of ", chain.Name(), " names ", unknown.text),
                        unknown.meant.empty()
                            ? "take it out of the policy, or join it (karmadactl join)"
                            : absl::StrCat("write ", unknown.meant, " there")});
  }
  const std::set<std::string> used = binding.ExpectedClusters();
  std::set<std::string> seen;
  for (const std::string& name : ClustersNamedIn(placement["clusterAffinity"])) {
    const auto cluster = chain.clusters.find(name);
    const bool is_left_out = cluster != chain.clusters.end() && used.count(name) == 0;
    if (!is_left_out || !seen.insert(name).second) continue;
    const Obstacle obstacle = ObstacleIn(*chain.binding, *cluster->second);
    const bool fits = obstacle.kind == ObstacleKind::kNone;
    if (fits ? !UsesAllThatFit(*chain.binding) : obstacle.kind == ObstacleKind::kAffinity) continue;
    findings.push_back(
        {Step::kScheduling, Grade::kNote,
         absl::StrCat(
             "the placement of ", chain.Name(), " names ", name, ", which is not used: it ",
             fits ? "fits by now, and karmada-scheduler has not looked again" : obstacle.text),
         fits ? LookAgain(chain) : AdviceFor(chain, obstacle.kind)});
  }
  return findings;
}

constexpr Check kChecks[] = {
    {"retain-holds", "Does its present state pass the rule for Retain?",
     "a Retain holds it back in $:", RetainHoldsItBack},
    {"report-behind", "Has the agent of the cluster reported the present state?",
     "the karmada-agent of $ reports another state:", ReportIsBehind},
    {"not-compared", "Was the object in the member compared?",
     "it was not compared in $:", MemberIsNotCompared},
    {"member-fought-over", "Does somebody in a member change it again and again?",
     "somebody changes it again and again:", MemberObjectIsFoughtOver},
    {"paused", "Is it paused?", "it is paused", WorkloadIsPaused},
    {"named-not-used", "Is every cluster used that the placement names?",
     "a cluster that its placement names is not used:", NamedClusterIsNotUsed},
};

}  // namespace

absl::Span<const Check> ArrivalChecks() { return kChecks; }

}  // namespace lens::why
