// Checks of the policies: which one governs the template, and why none does.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/binding.h"
#include "api/keys.h"
#include "api/policy.h"
#include "api/programs.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "detector/template_filter.h"
#include "lens/why/checks.h"
#include "lens/why/matching.h"
#include "lens/why/preemption.h"

namespace lens::why {
namespace {

constexpr Step kStep = Step::kPolicy;
constexpr size_t kMissesShown = 3;

// Returns whether a policy is what the template needs: not a Namespace, which goes everywhere by
// itself, nor an object that others require or own, nor one of a kind that is never propagated.
bool NeedsPolicy(const Chain& chain) {
  if (chain.object == nullptr || chain.object->IsDeleting()) return false;
  if (!chain.CouldReadBinding()) return false;
  if (detector::IsNeverPropagated(chain.asked.gvk)) return false;
  if (chain.IsNamespace() && chain.binding == nullptr) return false;
  return chain.binding == nullptr || api::BindingView(*chain.binding).RequiredBy().empty();
}

std::string Claim(const Chain& chain) {
  std::string claim;
  if (chain.object != nullptr) ClaimingPolicy(chain, *chain.object, &claim);
  return claim;
}

kube::ObjectPtr Governing(const Chain& chain) {
  std::string claim;
  return chain.object == nullptr ? nullptr : ClaimingPolicy(chain, *chain.object, &claim);
}

// Returns whether the binding lacks the finalizer that those have which Karmada makes: its Works
// stay when it is deleted.
bool IsMadeByHand(const kube::Object& binding) {
  return !binding.HasFinalizer(binding.ns().empty() ? api::kClusterBindingFinalizer
                                                    : api::kBindingFinalizer);
}

// Returns what is needed by a template whose policy does not take dependencies along.
Findings NobodyTakesItAlong(const Chain& chain) {
  const api::BindingView view(*chain.dependents[0]);
  return {{kStep, Grade::kStuck,
           absl::StrCat("no policy selects ", chain.Name(), "; ", view.Resource().Describe(),
                        " needs it, but ",
                        view.PropagateDeps() ? "it has not been taken along yet"
                                             : "its policy does not take dependencies along"),
           view.PropagateDeps()
               ? "see the events on the ResourceBinding of the template that needs it"
               : "set propagateDeps: true in that policy, or write a policy for it"}};
}

// Returns what becomes of the objects in clusters when the binding is deleted.
std::string WhatDeletionLoses(const kube::Object& binding) {
  return api::BindingView(binding).PreserveResourcesOnDeletion().value_or(false)
             ? "after which clusters keep the object on their own (preserveResourcesOnDeletion)"
             : absl::StrCat("by which ", kWhatIsLost);
}

// Names the policy that comes nearest; further ones are evidence. Of policies that are for other
// namespaces one alone is worth a hint: several are simply what other teams have.
Finding NothingSelectsIt(const Chain& chain) {
  Finding finding{kStep, Grade::kStuck, absl::StrCat("no policy selects ", chain.Name()),
                  absl::StrCat("write a ", chain.asked.key.ns.empty() ? "Cluster" : "",
                               "PropagationPolicy whose resourceSelectors match it")};
  const std::vector<NearMiss> misses = NearMisses(chain);
  if (misses.empty()) return finding;
  const auto is_foreign = [](const NearMiss& miss) {
    return miss.nearness == Nearness::kSelectsOthersLikeIt ||
           miss.nearness == Nearness::kPolicyInOtherNamespace ||
           miss.nearness == Nearness::kOtherNamespace;
  };
  const NearMiss& near = misses[0];
  const bool is_one_of_many = is_foreign(near) && misses.size() > 1 &&
                              misses[1].kinship == near.kinship &&
                              misses[1].nearness == near.nearness;
  if (!is_one_of_many) {
    absl::StrAppend(&finding.cause, "; ", near.policy->Describe(), " ", near.why);
    finding.advice = near.advice;
  }
  for (size_t i = is_one_of_many ? 0 : 1; i < misses.size(); ++i) {
    if (finding.evidence.size() == kMissesShown) break;
    finding.evidence.push_back(absl::StrCat(misses[i].policy->Describe(), " ", misses[i].why));
  }
  return finding;
}

// A Service that a MultiClusterService is for gets its binding from that.
Findings ServiceIsNotTaken(const Chain& chain) {
  constexpr char kGate[] = "--feature-gates=MultiClusterService=true";
  return {{kStep, Grade::kStuck,
           absl::StrCat("no policy selects ", chain.Name(), ", and ",
                        chain.service_owner->Describe(), " has not taken it"),
           absl::StrCat("see whether karmada-controller-manager runs with ", kGate,
                        ", or write a policy that selects it")}};
}

Findings NoPolicySelectsIt(const Chain& chain) {
  if (!NeedsPolicy(chain) || !Claim(chain).empty() || !Matches(chain).empty()) return {};
  if (!chain.CouldReadPolicies()) return {};
  const bool is_managed =
      chain.binding != nullptr && !chain.binding->Label(api::kBindingManagedByLabel).empty();
  if (is_managed) return {};  // A MultiClusterService has made it.
  if (chain.binding != nullptr && IsMadeByHand(*chain.binding)) {
    return {{kStep, Grade::kNote,
             absl::StrCat("no policy selects ", chain.Name(), "; its ", chain.binding->Describe(),
                          " was made by hand"),
             "write a policy that selects it; to remove it from clusters instead, delete the "
             "binding and then its Works, which stay otherwise, with the objects in the clusters"}};
  }
  if (chain.binding != nullptr) {
    return {{kStep, Grade::kStuck,
             absl::StrCat("no policy selects ", chain.Name(), " any more; its ",
                          chain.binding->Describe(),
                          " belongs to nobody, and clusters keep what they have"),
             absl::StrCat("write a policy that selects it; to remove it from clusters instead, "
                          "delete the binding, ",
                          WhatDeletionLoses(*chain.binding))}};
  }
  if (!chain.dependents.empty()) return NobodyTakesItAlong(chain);
  if (chain.service_owner != nullptr) return ServiceIsNotTaken(chain);
  return {NothingSelectsIt(chain)};
}

Findings ClaimedByPolicyThatIsGone(const Chain& chain) {
  const std::string claim = Claim(chain);
  if (claim.empty() || Governing(chain) != nullptr || !chain.CouldReadPolicies()) return {};
  return {{kStep,
           Grade::kWaiting,
           absl::StrCat(chain.Name(), " is still claimed by ", claim,
                        ", which does not exist any "
                        "more"),
           "karmada-controller-manager takes the claim away",
           "",
           {},
           Program::kControllerManager}};
}

// Its claim comes off within moments, and then another policy may take the template over.
Findings ClaimingPolicyIsBeingDeleted(const Chain& chain) {
  const kube::ObjectPtr policy = Governing(chain);
  if (policy == nullptr || !policy->IsDeleting() || chain.object->IsDeleting()) return {};
  const std::vector<Match> others = Matches(chain);
  Finding finding{kStep, Grade::kWaiting,
                  absl::StrCat(chain.Name(), " is claimed by ", policy->Describe(),
                               ", which is being deleted; ", api::kControllerManager,
                               " has not taken its claim off yet")};
  finding.advice =
      others.empty()
          ? "write another policy that selects it, if edits shall reach clusters; without one "
            "they keep what they have"
          : absl::StrCat(kWaitAMoment, ": then ", others[0].Describe(), " takes it over");
  finding.waits_for = Program::kControllerManager;
  return {std::move(finding)};
}

Findings DependentOverridesAreMissing(const Chain& chain) {
  const AwaitedOverride awaited = MissingOverride(chain);
  if (awaited.policy == nullptr) return {};
  return {{kStep, Grade::kStuck,
           absl::StrCat(awaited.policy->Describe(), " waits for the override policy ",
                        awaited.key.ToString(), ", which does not exist (spec.dependentOverrides)"),
           "create that override policy, or take it out of dependentOverrides"}};
}

Findings ClustersDoNotServeTheKind(const Chain& chain) {
  if (!NeedsPolicy(chain) || chain.binding != nullptr || chain.clusters.empty()) return {};
  const std::vector<Match> matches = Matches(chain);
  if (matches.empty()) return {};
  const kube::Object& policy = *matches[0].policy;
  const std::string waits =
      StandingFailure(chain, policy, api::reason::kWaitingForKind, api::reason::kWaitForKindEnded);
  if (waits.empty()) return {};
  return {{kStep,
           Grade::kStuck,
           absl::StrCat("no cluster that ", policy.Describe(), " may choose serves ",
                        chain.asked.gvk.ApiVersion(), " ", chain.asked.gvk.kind, " yet"),
           "propagate the CustomResourceDefinition with a ClusterPropagationPolicy, or install it "
           "in the members; the rest happens by itself",
           "",
           {waits}}};
}

Findings PolicyIsLazy(const Chain& chain) {
  const kube::ObjectPtr policy = Governing(chain);
  if (policy == nullptr || policy->IsDeleting()) return {};
  if (!api::PolicyView(*policy).IsLazy()) return {};
  const bool is_current =
      chain.binding != nullptr && FieldsBehind(*chain.object, *chain.binding, *policy).empty();
  if (is_current) return {};
  return {{kStep, Grade::kStuck,
           absl::StrCat(policy->Describe(), " is lazy (spec.activationPreference), so ",
                        chain.binding == nullptr ? "it" : "its change",
                        " takes effect only with the next change of ", chain.Name()),
           "change the template, for example an annotation"}};
}

Findings NotClaimedYet(const Chain& chain) {
  if (!NeedsPolicy(chain) || !Claim(chain).empty()) return {};
  const std::vector<Match> matches = Matches(chain);
  if (matches.empty() || MissingOverride(chain).policy != nullptr) return {};
  return {{kStep,
           Grade::kWaiting,
           absl::StrCat(matches[0].Describe(), " selects ", chain.Name(),
                        ", but karmada-controller-manager has not claimed it yet"),
           kWaitAMoment,
           "",
           {},
           Program::kControllerManager}};
}

// A policy that may take the template over and could not.
Findings PreemptionFailed(const Chain& chain) {
  if (chain.object == nullptr) return {};
  const std::string failed = StandingFailure(
      chain, *chain.object, api::reason::kPreemptPolicyFailed, api::reason::kPreemptPolicySucceed);
  if (failed.empty() || Claim(chain).empty()) return {};
  return {{kStep, Grade::kStuck,
           absl::StrCat("another policy may not take ", chain.Name(), " over from ", Claim(chain),
                        ": ", failed),
           AdviceForRefusal(failed)}};
}

// Explains a claim by another policy than the best one. `better` are all that fit better.
Findings ClaimedByAnother(absl::Span<const Match> better, const Match& claiming,
                          const Chain& chain) {
  const auto preemptor = std::find_if(better.begin(), better.end(), [&](const Match& match) {
    return WhyNotTakenOver(match, claiming, *chain.object).is_due;
  });
  const Match& shown = preemptor == better.end() ? better.front() : *preemptor;
  const Refused refused = WhyNotTakenOver(shown, claiming, *chain.object);
  return {
      {kStep,
       refused.is_due ? Grade::kWaiting : Grade::kNote,
       absl::StrCat(chain.Name(), " is claimed by ", claiming.Describe(), "; ", shown.Describe(),
                    " fits better (", WhyBefore(shown, claiming), ") but ", refused.text),
       absl::StrCat(refused.advice, refused.is_due ? "" : OrDelete(claiming)),
       "",
       {},
       Program::kControllerManager}};
}

Findings OtherPoliciesSelectIt(const Chain& chain) {
  const kube::ObjectPtr policy = Governing(chain);
  const std::vector<Match> matches = Matches(chain);
  const auto claiming = std::find_if(matches.begin(), matches.end(),
                                     [&](const Match& match) { return match.policy == policy; });
  if (claiming == matches.end() || matches.size() < 2) return {};
  const auto better = static_cast<size_t>(claiming - matches.begin());
  if (better > 0) {
    return ClaimedByAnother(absl::MakeConstSpan(matches).first(better), *claiming, chain);
  }
  return {{kStep, Grade::kNote,
           absl::StrCat(chain.Name(), " follows ", claiming->Describe(), " and not ",
                        matches[1].Describe(), ": ", WhyBefore(*claiming, matches[1])),
           ""}};
}

constexpr Check kChecks[] = {
    {"no-policy", "Does a policy select it?", "no policy selects it:", NoPolicySelectsIt},
    {"dependent-overrides", "Are the overrides there that the policy waits for?",
     "its policy waits for an override policy:", DependentOverridesAreMissing},
    {"kind-not-served", "Does a cluster serve the kind?",
     "no cluster serves its kind:", ClustersDoNotServeTheKind},
    {"policy-lazy", "Does the policy wait for a change of the template?",
     "its policy is lazy:", PolicyIsLazy},
    {"policy-gone", "Does the policy exist that has claimed it?",
     "its policy does not exist any more:", ClaimedByPolicyThatIsGone},
    {"policy-deleting", "Is the policy being deleted that has claimed it?",
     "its policy is being deleted:", ClaimingPolicyIsBeingDeleted},
    {"not-claimed", "Has the policy claimed it?",
     "its policy has not claimed it yet:", NotClaimedYet},
    {"preemption-failed", "Could a policy not take it over?",
     "a policy may not take it over:", PreemptionFailed},
    {"other-policies", "Do other policies select it, too?",
     "another policy fits better:", OtherPoliciesSelectIt},
};

}  // namespace

absl::Span<const Check> PolicyChecks() { return kChecks; }

}  // namespace lens::why
