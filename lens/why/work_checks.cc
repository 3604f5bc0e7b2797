// Checks of the Works: whether each chosen cluster has one, and why not.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/binding.h"
#include "api/cluster.h"
#include "api/eviction.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/passed_template.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "api/work.h"
#include "lens/why/agents.h"
#include "lens/why/checks.h"
#include "lens/why/expected.h"
#include "lens/why/interpretation.h"
#include "lens/why/matching.h"

namespace lens::why {
namespace {

constexpr Step kStep = Step::kWork;

// Calls `check` for each cluster that is to have a Work; `check` returns one finding, whose cause
// is "" when it has none.
template <class CheckOne>
Findings ForEachTarget(const Chain& chain, CheckOne check) {
  Findings findings;
  if (chain.object == nullptr) return findings;
  for (const api::TargetCluster& target : chain.Targets()) {
    Finding finding = check(target);
    if (finding.cause.empty()) continue;
    finding.cluster = target.name;
    findings.push_back(std::move(finding));
  }
  return findings;
}

kube::ObjectPtr WorkIn(const Chain& chain, const std::string& cluster) {
  const auto found = chain.works.find(cluster);
  return found == chain.works.end() ? nullptr : found->second;
}

// Returns the generation of the template that the Work was made from, which its manifest records;
// nothing when it does not say so.
std::optional<int64_t> MadeFrom(const kube::Object& work) {
  for (const json::Value& manifest : api::WorkView(work).Manifests()) {
    const kube::Object object(manifest);
    int64_t made_from = 0;
    if (absl::SimpleAtoi(object.Annotation(api::kTemplateGenerationAnnotation), &made_from)) {
      return made_from;
    }
  }
  return std::nullopt;
}

// Returns whether the Work is what the cluster shall get. Where that cannot be computed, the
// generation decides.
bool IsCurrent(const Chain& chain, const api::TargetCluster& target, const kube::Object& work) {
  if (chain.binding != nullptr) {
    const absl::StatusOr<json::Value> missing = MissingInWork(chain, target, work);
    if (missing.ok()) return missing->empty();
  }
  return MadeFrom(work).value_or(chain.object->generation()) >= chain.object->generation();
}

// Returns whether the daemon leaves the Works as they are, whatever the template has become.
bool KeepsWorks(const Chain& chain) {
  return chain.binding != nullptr && chain.object != nullptr &&
         PassageFor(chain) != works::Passage::kPassed;
}

// Returns whether the Work has other replicas than the cluster shall get by the binding.
bool HasOtherReplicas(const Chain& chain, const api::TargetCluster& target,
                      const kube::Object& work) {
  if (chain.binding == nullptr) return false;
  const absl::StatusOr<json::Value> missing = MissingInWork(chain, target, work);
  return missing.ok() && (*missing)["spec"].Has("replicas");
}

// Returns whether the Work is not what the override policies make of the manifest now, as far as
// one sees: without its Cluster they are not applied. The Work's annotations name those that have
// been applied to it at some time.
bool HasOtherOverrides(const Chain& chain, const api::TargetCluster& target,
                       const kube::Object& work) {
  if (chain.binding == nullptr || chain.clusters.count(target.name) == 0) return false;
  const absl::StatusOr<Expected> expected = ExpectedFor(chain, target);
  if (!expected.ok()) return false;
  const overrides::Application& now = expected->application;
  const bool concerned = !now.of_cluster_policies.empty() || !now.of_policies.empty() ||
                         !work.Annotation(api::kAppliedClusterOverridesAnnotation).empty() ||
                         !work.Annotation(api::kAppliedOverridesAnnotation).empty();
  return concerned && !IsCurrent(chain, target, work);
}

// Returns whether the Work stays although its cluster is no target any more.
bool IsKeptSuspended(const Chain& chain, const std::string& cluster, const kube::Object& work) {
  const auto member = chain.clusters.find(cluster);
  return !work.IsDeleting() &&
         StaysSuspended(api::BindingView(*chain.binding), cluster,
                        member == chain.clusters.end() ? nullptr : member->second.get());
}

// Returns whether every chosen cluster has the Work that it shall have, and no other has one.
bool AllWorksAreCurrent(const Chain& chain) {
  const std::set<std::string> expected = api::BindingView(*chain.binding).ExpectedClusters();
  for (const auto& [cluster, work] : chain.works) {
    if (expected.count(cluster) == 0 && !IsKeptSuspended(chain, cluster, *work)) return false;
  }
  const bool keeps_works = KeepsWorks(chain);
  for (const api::TargetCluster& target : chain.Targets()) {
    const kube::ObjectPtr work = WorkIn(chain, target.name);
    if (work == nullptr || work->IsDeleting()) return false;
    if (!keeps_works && !IsCurrent(chain, target, *work)) return false;
  }
  return true;
}

// Returns where the suspension of the binding comes from: its policy, unless it has none, or one
// that does not suspend dispatching to the cluster.
std::string Suspender(const Chain& chain, const std::string& cluster) {
  std::string claim;
  const kube::ObjectPtr policy = ClaimingPolicy(chain, *chain.binding, &claim);
  // A policy has the suspension in the same form as a binding.
  const bool is_policys =
      !claim.empty() &&
      (policy == nullptr || api::BindingView(*policy).IsDispatchingSuspended(cluster));
  return is_policys ? "policy" : chain.binding->Describe();
}

// Returns what to do about a suspension that comes from there.
std::string AdviceForSuspension(const std::string& suspender) {
  return suspender == "policy" ? "change spec.suspension of the policy"
                               : absl::StrCat("change spec.suspension of ", suspender);
}

Findings DispatchingIsSuspended(const Chain& chain) {
  return ForEachTarget(chain, [&](const api::TargetCluster& target) -> Finding {
    const bool by_binding = chain.binding != nullptr &&
                            api::BindingView(*chain.binding).IsDispatchingSuspended(target.name);
    const kube::ObjectPtr work = WorkIn(chain, target.name);
    const bool by_work = work != nullptr && api::WorkView(*work).IsDispatchingSuspended();
    if (!by_binding && !by_work) return {};
    const std::string suspender = by_binding ? Suspender(chain, target.name) : "";
    Finding finding{
        kStep, Grade::kStuck,
        absl::StrCat("dispatching of ", chain.Name(), " to ", target.name, " is suspended (",
                     by_binding ? absl::StrCat("spec.suspension of its ", suspender)
                                : "spec.suspendDispatching of its Work",
                     "): the cluster gets no change, and drift there is not put back"),
        by_binding ? AdviceForSuspension(suspender) : "change the Work"};
    finding.is_wanted = true;
    return finding;
  });
}

Findings ExecutionNamespaceIsMissing(const Chain& chain) {
  return ForEachTarget(chain, [&](const api::TargetCluster& target) -> Finding {
    const std::string ns = api::ExecutionNamespace(target.name);
    if (chain.namespaces.count(ns) > 0 || chain.clusters.count(target.name) == 0) return {};
    if (!chain.CouldRead(api::Namespaces().gvk, {"", ns})) return {};
    return {
        kStep,
        Grade::kWaiting,
        absl::StrCat("the namespace ", ns, " for the Works of ", target.name, " does not exist"),
        "karmada-controller-manager makes it; see the events on the Cluster",
        "",
        {},
        Program::kControllerManager};
  });
}

Findings ManifestCannotBeMade(const Chain& chain) {
  if (chain.binding == nullptr || chain.binding->IsDeleting()) return {};
  return ForEachTarget(chain, [&](const api::TargetCluster& target) -> Finding {
    const absl::Status made = ExpectedFor(chain, target).status();
    if (made.ok() || absl::IsUnavailable(made)) return {};
    return {kStep, Grade::kStuck,
            absl::StrCat("the manifest of ", chain.Name(), " for ", target.name,
                         " cannot be made: ", made.message()),
            "mend the override policy or the customization that the message names"};
  });
}

bool HasLeavingWork(const Chain& chain) {
  return std::any_of(chain.works.begin(), chain.works.end(),
                     [](const auto& one) { return one.second->IsDeleting(); });
}

// Failures that only the daemon sees: of webhooks, of the API server.
Findings WorkCouldNotBeWritten(const Chain& chain) {
  if (chain.binding == nullptr || chain.object == nullptr || AllWorksAreCurrent(chain)) return {};
  std::string failed = StandingFailure(chain, *chain.binding, api::reason::kSyncWorkFailed,
                                       api::reason::kSyncWorkSucceed);
  if (failed.empty()) {
    failed = StandingFailure(chain, *chain.object, api::reason::kApplyOverridePolicyFailed,
                             api::reason::kApplyOverridePolicySucceed);
  }
  // What it waits for then is said of the Work that is being deleted.
  if (failed.empty() || (absl::StrContains(failed, "is being deleted") && HasLeavingWork(chain))) {
    return {};
  }
  return {{kStep, Grade::kStuck,
           absl::StrCat("the Works of ", chain.Name(), " cannot be written: ", failed),
           AdviceForInterpreter(chain, failed, AdviceForRefusal(failed))}};
}

Findings NoWorkYet(const Chain& chain) {
  return ForEachTarget(chain, [&](const api::TargetCluster& target) -> Finding {
    if (WorkIn(chain, target.name) != nullptr || chain.clusters.count(target.name) == 0) return {};
    const kube::ObjectKey works{api::ExecutionNamespace(target.name), ""};
    if (!chain.CouldRead(api::Works().gvk, works)) return {};
    return {kStep,
            Grade::kWaiting,
            absl::StrCat("karmada-controller-manager has not made the Work of ", chain.Name(),
                         " for ", target.name, " yet"),
            kWaitAMoment,
            "",
            {},
            Program::kControllerManager};
  });
}

// Returns what the Work for the cluster is behind of; "" when it is not. A new generation may be of
// no consequence: of kinds without a subresource for it, the status counts, too.
std::string WhatWorkLacks(const Chain& chain, const api::TargetCluster& target,
                          const kube::Object& work) {
  const std::optional<int64_t> made_from = MadeFrom(work);
  if (!made_from.has_value()) return "";
  if (*made_from < chain.object->generation() && !IsCurrent(chain, target, work)) {
    return absl::StrCat("was made from an earlier state of ", chain.Name(), " (generation ",
                        *made_from, " of ", chain.object->generation(), ")");
  }
  if (HasOtherReplicas(chain, target, work)) {
    return absl::StrCat("does not have the replicas yet that ", chain.Name(), " is to have there");
  }
  if (!HasOtherOverrides(chain, target, work)) return "";
  return absl::StrCat("is not what the override policies make of ", chain.Name(), " now");
}

// Returns whether the template is as it was when the Work was made.
bool IsOfPresentState(const Chain& chain, const kube::Object& work) {
  const api::PassedRecord record = api::CompareWithRecord(*chain.binding, *chain.object);
  if (record != api::PassedRecord::kNone) return record == api::PassedRecord::kSame;
  return MadeFrom(work) == chain.object->generation();
}

// An edit that the detector has not let pass stays out of the clusters; so does each edit of a
// template that no policy governs.
Findings TemplateIsHeldBack(const Chain& chain) {
  if (!KeepsWorks(chain)) return {};
  const bool is_released = PassageFor(chain) == works::Passage::kReleased;
  return ForEachTarget(chain, [&](const api::TargetCluster& target) -> Finding {
    const kube::ObjectPtr work = WorkIn(chain, target.name);
    if (work == nullptr || work->IsDeleting() || IsCurrent(chain, target, *work)) return {};
    if (is_released) {
      const std::string what =
          IsOfPresentState(chain, *work)
              ? absl::StrCat("does not get what the override policies make of ", chain.Name(),
                             " now")
              : absl::StrCat("keeps an earlier state of ", chain.Name());
      return {kStep, Grade::kNote,
              absl::StrCat(target.name, " ", what, ", because no policy governs it any more"),
              "make a policy that selects it"};
    }
    return {kStep,
            Grade::kWaiting,
            absl::StrCat("an earlier state of ", chain.Name(), " stays in ", target.name,
                         ": karmada-controller-manager has not let the present one pass yet"),
            "wait a moment; if it stays so, see the events on the template",
            "",
            {},
            Program::kControllerManager};
  });
}

Findings WorkIsBehind(const Chain& chain) {
  if (KeepsWorks(chain)) return {};
  return ForEachTarget(chain, [&](const api::TargetCluster& target) -> Finding {
    const kube::ObjectPtr work = WorkIn(chain, target.name);
    if (work == nullptr || work->IsDeleting()) return {};
    const std::string lack = WhatWorkLacks(chain, target, *work);
    if (lack.empty()) return {};
    return {kStep,
            Grade::kWaiting,
            absl::StrCat("the Work for ", target.name, " ", lack),
            kWaitAMoment,
            "",
            {},
            Program::kControllerManager};
  });
}

Findings WorkIsBeingDeleted(const Chain& chain) {
  return ForEachTarget(chain, [&](const api::TargetCluster& target) -> Finding {
    const kube::ObjectPtr work = WorkIn(chain, target.name);
    if (work == nullptr || !work->IsDeleting()) return {};
    const Removal removal = WhyNotRemoved(chain, target.name);
    return {kStep,
            removal.why.empty() ? Grade::kWaiting : Grade::kStuck,
            absl::StrCat(work->Describe(), " is being deleted and has not left ", target.name,
                         " yet", removal.why),
            removal.advice,
            "",
            {},
            AppliesIn(chain, target.name)};
  });
}

// Returns "; it does not go to member2 before (purge mode Directly)" when others wait for the
// Work's end.
std::string WaitsForPurge(const Chain& chain, const std::string& cluster) {
  const api::BindingView binding(*chain.binding);
  if (binding.ClustersPurgedAtOnce().count(cluster) == 0) return "";
  std::vector<std::string> waiting;
  for (const api::TargetCluster& target : binding.Clusters()) {
    if (WorkIn(chain, target.name) == nullptr) waiting.push_back(target.name);
  }
  if (waiting.empty()) return "";
  return absl::StrCat("; it does not go to ", absl::StrJoin(waiting, ", "), " before (purge mode ",
                      api::kPurgeDirectly, ")");
}

// Clusters that are no targets any more keep a Work only for a moment, or while they are evicted.
Findings WorkIsLeftOver(const Chain& chain) {
  if (chain.binding == nullptr || chain.object == nullptr) return {};
  const std::set<std::string> expected = api::BindingView(*chain.binding).ExpectedClusters();
  Findings findings;
  for (const auto& [cluster, work] : chain.works) {
    if (expected.count(cluster) > 0 || !chain.Concerns(cluster)) continue;
    if (IsKeptSuspended(chain, cluster, *work)) {
      std::string text = api::message::SuspendedWorkKept(cluster);
      text.pop_back();  // The full stop.
      findings.push_back({kStep, Grade::kStuck, absl::StrCat(chain.Name(), ": ", text),
                          AdviceForSuspension(Suspender(chain, cluster)), cluster});
      findings.back().is_wanted = true;
      continue;
    }
    const Removal removal = WhyNotRemoved(chain, cluster);
    findings.push_back({kStep,
                        removal.why.empty() ? Grade::kWaiting : Grade::kStuck,
                        absl::StrCat(chain.Name(), " is not meant for ", cluster,
                                     " any more, but its Work there still exists", removal.why,
                                     WaitsForPurge(chain, cluster)),
                        removal.advice,
                        cluster,
                        {},
                        AppliesIn(chain, cluster)});
  }
  return findings;
}

constexpr Check kChecks[] = {
    {"dispatching-suspended", "Is dispatching suspended?", "dispatching to $ is suspended",
     DispatchingIsSuspended},
    {"manifest-not-made", "Can the manifest be made for the cluster?",
     "its manifest for $ cannot be made:", ManifestCannotBeMade},
    {"work-not-written", "Did writing the Work fail?",
     "its Works cannot be written:", WorkCouldNotBeWritten},
    {"no-execution-namespace", "Is there a namespace for the Works?",
     "the namespace for the Works of $ is missing", ExecutionNamespaceIsMissing},
    {"no-work", "Is there a Work for the cluster?", "its Work for $ has not been made yet",
     NoWorkYet},
    {"template-held-back", "May the Work be made from the template as it is?",
     "an earlier state of it stays in $:", TemplateIsHeldBack},
    {"work-behind", "Is the Work made from the template as it is?", "its Work for $ is out of date",
     WorkIsBehind},
    {"work-deleting", "Is the Work being deleted?",
     "its Work for $ is being deleted:", WorkIsBeingDeleted},
    {"work-left-over", "Has every other cluster lost its Work?",
     "it has not left $ yet:", WorkIsLeftOver},
};

}  // namespace

absl::Span<const Check> WorkChecks() { return kChecks; }

}  // namespace lens::why
