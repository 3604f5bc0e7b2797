// Checks of the template itself: whether it exists, and whether Karmada looks at it at all.

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/keys.h"
#include "api/multi_cluster_service.h"
#include "api/names.h"
#include "api/namespace_sync.h"
#include "api/resources.h"
#include "lens/why/agents.h"
#include "lens/why/checks.h"
#include "lens/why/named_clusters.h"
#include "lens/why/namespace_deletion.h"
#include "lens/why/own_deletions.h"
#include "lens/why/own_kinds.h"
#include "lens/why/own_objects.h"
#include "lens/why/own_registries.h"
#include "lens/why/own_scaling.h"
#include "lens/why/own_taints.h"

namespace lens::why {
namespace {

constexpr Step kStep = Step::kTemplate;

// Returns the clusters whose Works are still there.
std::vector<std::string> ClustersWithWorks(const Chain& chain) {
  std::vector<std::string> names;
  for (const auto& [cluster, work] : chain.works) names.push_back(cluster);
  return names;
}

std::vector<std::string> ClustersThatHoldIt(const Chain& chain) {
  std::vector<std::string> names;
  for (const auto& [cluster, answer] : chain.members) {
    if (answer.object != nullptr) names.push_back(cluster);
  }
  return names;
}

// Returns "member1 still has it: it is being deleted there and waits for its finalizer a"; "" when
// no member is about to delete it. It does not begin with ": ".
Removal StillLeaves(const Chain& chain) {
  for (const auto& [cluster, answer] : chain.members) {
    if (answer.object == nullptr || !answer.object->IsDeleting()) continue;
    const std::string waits = WhatItWaitsFor(*answer.object);
    const NamespaceHold hold = HoldOf(*answer.object, cluster);
    return {absl::StrCat(cluster, " still has it: it is being deleted there",
                         waits.empty() ? "" : " and waits", waits),
            hold.advice.empty()
                ? absl::StrCat(AdviceForHeld(*answer.object, cluster), "; in ", cluster, ": ",
                               chain.asked.Kubectl("get"), " -o yaml")
                : hold.advice};
  }
  return {};
}

// Nothing else is true of a cluster that does not exist, whatever the template is.
Findings AskedClusterIsUnknown(const Chain& chain) {
  const std::string& asked = chain.asked.cluster;
  if (asked.empty() || chain.clusters.count(asked) > 0) return {};
  if (!chain.CouldRead(api::Clusters().gvk, {"", asked})) return {};
  return {{kStep, Grade::kStuck, absl::StrCat("there is no cluster ", asked),
           "see kubectl get clusters for those that there are"}};
}

// Returns what keeps the first Work that says so.
Removal WhyWorksStay(const Chain& chain) {
  for (const auto& [cluster, work] : chain.works) {
    Removal removal = WhyNotRemoved(chain, cluster);
    if (!removal.why.empty()) return removal;
  }
  for (const auto& [cluster, work] : chain.works) {
    if (IsPull(chain, cluster)) return {"", AdviceForAgent(chain, cluster)};
  }
  return {"",
          "see whether the cluster can be reached: the Work goes when the object is removed from "
          "it"};
}

// Returns what to do about Works that stay. Those in pull clusters are their agents'.
std::string AdviceForWorksOf(const Chain& chain) {
  std::string advice = "see whether karmada-controller-manager runs and reaches the clusters";
  for (const auto& [cluster, work] : chain.works) {
    if (!IsPull(chain, cluster)) continue;
    const bool is_only_one = chain.works.size() == 1;
    advice = is_only_one ? AdviceForAgent(chain, cluster)
                         : absl::StrCat(advice, ", and ", AdviceForAgent(chain, cluster));
    break;
  }
  return advice;
}

// Returns the program that has to remove the Works that are left; kNone where only others hold
// them, or several agents are waited for.
Program RemoverOfWorks(const Chain& chain) {
  for (const auto& [cluster, work] : chain.works) {
    const bool is_managers = !work->IsDeleting() || !IsPull(chain, cluster);
    const bool is_held = !work->IsDeleting() || HoldersOf(*work).has_karmadas;
    if (is_managers && is_held) return Program::kControllerManager;
  }
  const auto& [cluster, work] = *chain.works.begin();
  const bool is_one = chain.works.size() == 1 && HoldersOf(*work).has_karmadas;
  return is_one ? Program::kAgent : Program::kNone;
}

bool IsOfWorkload(const kube::Gvk& gvk) { return gvk.kind == "Pod" || gvk.kind == "ReplicaSet"; }

std::string AskAboutWorkload(const Chain& chain) {
  return absl::StrCat("ask about the workload that makes it: a ", chain.asked.gvk.kind,
                      " of a workload is only in members, where kubectl shows it");
}

// Returns a finding about an object that a controller of a member has made there: it is no template
// that has been deleted, and to delete it would help nobody.
Findings MadeInMembers(const Chain& chain) {
  for (const auto& [cluster, answer] : chain.members) {
    if (answer.object == nullptr) continue;
    const kube::OwnerRef owner = answer.object->ControllerOwner();
    const bool is_karmadas = answer.object->Label(api::kManagedLabel) == api::kManagedValue;
    if (owner.name.empty() && (is_karmadas || !IsOfWorkload(chain.asked.gvk))) continue;
    Finding finding{kStep, Grade::kStuck,
                    absl::StrCat("there is no ", chain.Name(), " in the control plane; ", cluster,
                                 " has one, which ",
                                 owner.name.empty()
                                     ? "is not Karmada's"
                                     : absl::StrCat(owner.kind, " ", owner.name, " there made"))};
    const auto gvk = kube::ParseGvk(owner.api_version, owner.kind);
    const bool is_template = gvk.ok() && !owner.name.empty() && !IsOfWorkload(*gvk);
    finding.advice = is_template ? chain.asked.AskAbout(*gvk, {chain.asked.key.ns, owner.name})
                                 : AskAboutWorkload(chain);
    return {std::move(finding)};
  }
  return {};
}

Findings TemplateIsGone(const Chain& chain) {
  if (chain.object != nullptr) return {};
  const std::vector<std::string> works = ClustersWithWorks(chain);
  if (chain.binding != nullptr && chain.binding->IsDeleting()) {
    const Holders holders = HoldersOf(*chain.binding);
    Finding finding{
        kStep, Grade::kStuck,
        absl::StrCat(chain.Name(), " is deleted, but its ", chain.binding->Describe(),
                     " still waits for ", ItsFinalizers(*chain.binding), " ", holders.text),
        holders.foreign.empty() ? AdviceForWorksOf(chain) : holders.advice};
    if (holders.has_karmadas) {
      finding.waits_for = Program::kControllerManager;
      finding.advice = absl::StrCat(AdviceForWorksOf(chain),
                                    holders.foreign.empty() ? "" : "; and ", holders.advice);
    }
    return {std::move(finding)};
  }
  if (!works.empty()) {
    const Removal removal = WhyWorksStay(chain);
    Finding finding{kStep, Grade::kStuck,
                    absl::StrCat(chain.Name(), " is deleted, but its Work for ",
                                 absl::StrJoin(works, ", "), " is still there", removal.why),
                    removal.advice};
    finding.waits_for = RemoverOfWorks(chain);
    if (finding.waits_for == Program::kAgent) finding.cluster = works[0];
    return {std::move(finding)};
  }
  if (Findings made = MadeInMembers(chain); !made.empty()) return made;
  const Removal leaves = StillLeaves(chain);
  if (!leaves.why.empty()) {
    return {{kStep, Grade::kStuck, absl::StrCat(chain.Name(), " is deleted, but ", leaves.why),
             leaves.advice}};
  }
  const std::vector<std::string> holders = ClustersThatHoldIt(chain);
  if (!holders.empty()) {
    return {{kStep, Grade::kStuck,
             absl::StrCat("there is no ", chain.Name(), " in the control plane; ",
                          absl::StrJoin(holders, ", "),
                          " keeps the object on its own (deleted with "
                          "preserveResourcesOnDeletion, or never Karmada's)"),
             absl::StrCat("create the template again, with conflictResolution: Overwrite in its "
                          "policy, so that it takes the object over, whose content there is then "
                          "replaced and lost; or delete the object in ",
                          holders[0], " itself, by which ", kWhatIsLost)}};
  }
  Finding finding{kStep, Grade::kStuck,
                  absl::StrCat("there is no ", chain.Name(), " in the control plane"),
                  "create it there (not in a member)"};
  if (chain.asked.gvk == api::Clusters().gvk) {
    const std::string meant = SimilarCluster(chain, chain.asked.key.name);
    finding.advice =
        meant.empty()
            ? "see kubectl get clusters for those that there are, or join it (karmadactl join)"
            : absl::StrCat("look for a slip in the name, since there is a Cluster ", meant,
                           "; or join it (karmadactl join)");
    return {finding};
  }
  const std::vector<std::string>& others = chain.elsewhere;
  if (IsOfWorkload(chain.asked.gvk)) finding.advice = AskAboutWorkload(chain);
  if (chain.lacks_space) {
    absl::StrAppend(&finding.cause, "; there is no namespace ", chain.asked.key.ns, " either");
  }
  if (chain.space != nullptr && chain.space->IsDeleting() && !chain.asked.key.ns.empty()) {
    absl::StrAppend(&finding.cause, "; its namespace is being deleted since ",
                    chain.space->metadata()["deletionTimestamp"].AsString());
    finding.advice = absl::StrCat(
        "create it when the namespace has gone and is made again, since nothing can be created in "
        "it before; ",
        chain.asked.AskAbout(api::Namespaces().gvk, {"", chain.asked.key.ns}));
  }
  if (!others.empty()) {
    absl::StrAppend(&finding.cause, "; ", others.size() == 1 ? "the namespace " : "the namespaces ",
                    Some(others, 3), others.size() == 1 ? " has one" : " have one");
    absl::StrAppend(&finding.advice, ", or ask again with -n ", others[0]);
  } else if (!chain.asked.key.ns.empty()) {
    absl::StrAppend(&finding.advice, ", or look for it in another namespace (-n)");
  }
  return {finding};
}

Findings KindIsNeverPropagated(const Chain& chain) {
  if (chain.object == nullptr || !detector::IsNeverPropagated(chain.asked.gvk)) return {};
  // Nobody expects to find an object of Karmada's own in a member.
  if (IsAboutOwnObject(chain)) return {};
  return {{kStep, Grade::kStuck,
           absl::StrCat("Karmada propagates no ", chain.asked.gvk.kind, " of ",
                        chain.asked.gvk.ApiVersion(),
                        ": objects of its own groups, events and leases stay in the control plane"),
           "put what members shall have into another kind"}};
}

Findings NamespaceIsReserved(const Chain& chain) {
  const std::string ns = chain.IsNamespace() ? chain.asked.key.name : chain.asked.key.ns;
  if (chain.object == nullptr || IsAboutOwnObject(chain)) return {};
  if (!api::IsReservedNamespace(ns) || chain.object->IsDeleting()) return {};
  return {{kStep, Grade::kStuck,
           absl::StrCat("the namespace ", ns,
                        " is reserved for Karmada itself, so nothing in it "
                        "is propagated"),
           "create the template in another namespace"}};
}

Findings NamespaceIsSkipped(const Chain& chain) {
  const std::string ns = chain.IsNamespace() ? chain.asked.key.name : chain.asked.key.ns;
  if (chain.object == nullptr || ns.empty() || api::IsReservedNamespace(ns)) return {};
  if (IsAboutOwnObject(chain)) return {};
  if (chain.filter.AllowsNamespace(ns)) return {};
  return {{kStep, Grade::kStuck,
           absl::StrCat("the namespace ", ns,
                        " is excluded from propagation "
                        "(--skipped-propagating-namespaces of karmada-controller-manager: ",
                        absl::StrJoin(chain.asked.skipped_namespaces, ","), ")"),
           "create the template in another namespace, or change the flag"}};
}

Findings NamespaceOptsOut(const Chain& chain) {
  if (chain.object == nullptr || !chain.IsNamespace() || chain.binding != nullptr) return {};
  if (chain.object->IsDeleting() || api::IsReservedNamespace(chain.object->name())) return {};
  if (!api::IsKeptFromSync(*chain.object)) return {};
  const absl::string_view label = chain.object->Label(api::kSkipAutoPropagationLabel);
  if (!absl::EqualsIgnoreCase(label, "true")) {
    return {{kStep, Grade::kNote,
             absl::StrCat(chain.Name(), " does not go to clusters, each of which has its own"),
             ""}};
  }
  return {{kStep, Grade::kStuck,
           absl::StrCat(chain.Name(), " has the label ", api::kSkipAutoPropagationLabel, "=", label,
                        ", so clusters do not get it on their own"),
           "remove the label, or select the Namespace with a ClusterPropagationPolicy"}};
}

Findings ApiIsSkipped(const Chain& chain) {
  if (chain.object == nullptr || detector::IsNeverPropagated(chain.asked.gvk)) return {};
  if (chain.filter.AllowsResource(chain.asked.gvk)) return {};
  return {{kStep, Grade::kStuck,
           absl::StrCat(chain.asked.gvk.ApiVersion(), " ", chain.asked.gvk.kind,
                        " is excluded from propagation (--skipped-propagating-apis of "
                        "karmada-controller-manager: ",
                        chain.asked.skipped_apis, ")"),
           "change the flag"}};
}

Findings ObjectIsExcluded(const Chain& chain) {
  if (chain.object == nullptr || chain.filter.AllowsObject(*chain.object)) return {};
  if (!chain.filter.AllowsNamespace(chain.asked.key.ns)) return {};
  return {{kStep, Grade::kStuck,
           absl::StrCat(chain.Name(), " belongs to the API server itself and is never propagated"),
           ""}};
}

std::string LookAtOwner(const Chain& chain, absl::string_view owner) {
  const kube::ObjectKey service = api::ClaimingService(*chain.object);
  if (service.name.empty()) return absl::StrCat("look at the ", owner, " that refers to it");
  return chain.asked.AskAbout(api::MultiClusterServices().gvk, service);
}

Findings TemplateHasAnotherOwner(const Chain& chain) {
  if (chain.object == nullptr) return {};
  const absl::string_view owner = chain.object->Label(api::kClaimedByLabel);
  if (owner.empty()) return {};
  return {{kStep, chain.binding == nullptr ? Grade::kStuck : Grade::kNote,
           absl::StrCat(chain.Name(), " belongs to ", owner, " (label ", api::kClaimedByLabel,
                        "), which propagates it itself; policies do not count for it"),
           LookAtOwner(chain, owner)}};
}

Findings TemplateIsProtected(const Chain& chain) {
  if (chain.object == nullptr) return {};
  if (chain.object->Label(api::kDeletionProtectedLabel) != api::kDeletionProtectedValue) return {};
  return {{kStep, Grade::kNote,
           absl::StrCat(chain.Name(), " cannot be deleted: it has the label ",
                        api::kDeletionProtectedLabel, "=", api::kDeletionProtectedValue),
           "remove the label before you delete it"}};
}

constexpr Check kChecks[] = {
    {"cluster-unknown", "Does the cluster exist that is asked about?", "the cluster does not exist",
     AskedClusterIsUnknown},
    {"template-gone", "Does the template exist?", "deleted, and has not gone", TemplateIsGone},
    {"kind-never-propagated", "Is it of a kind that can be a template?",
     "of a kind that is never propagated", KindIsNeverPropagated},
    {"namespace-reserved", "Is its namespace Karmada's own?", "in a namespace of Karmada's own",
     NamespaceIsReserved},
    {"namespace-skipped", "Does a flag exclude its namespace?",
     "in a namespace that a flag excludes", NamespaceIsSkipped},
    {"namespace-opts-out", "Does a label keep the Namespace out?",
     "kept from clusters by its label", NamespaceOptsOut},
    {"api-skipped", "Does a flag exclude its kind?", "of a kind that a flag excludes",
     ApiIsSkipped},
    {"object-excluded", "Is it an object of the API server itself?", "never propagated",
     ObjectIsExcluded},
    {"cluster-leaving", "Is it a Cluster that is being deleted?",
     "a cluster waits to be gone:", ClusterIsLeaving},
    {"own-object-deleting", "For whom does the deletion of an object of Karmada's own wait?",
     "being deleted, and waits:", OwnObjectIsBeingDeleted},
    {"template-deleting", "Is it being deleted?",
     "being deleted, and waits:", TemplateIsBeingDeleted},
    {"cluster-works-leave", "Is the namespace of the Works of a Cluster being deleted?",
     "the namespace of its Works is being deleted:", WorksOfClusterAreBeingDeleted},
    {"own-object-idle", "Does something look at an object of Karmada's own?",
     "nothing looks at it:", OwnObjectIsNotLookedAt},
    {"autoscaler-target", "Does what an autoscaler scales exist?",
     "what it scales does not exist:", AutoscalerHasNoTarget},
    {"autoscaler-nowhere", "Is what it scales in a cluster?",
     "what it scales is in no cluster:", AutoscalerTargetIsNowhere},
    {"autoscalers-disagree", "Does another autoscaler scale it, too?",
     "another autoscaler scales the same:", AutoscalersDisagree},
    {"cron-rule-failed", "Do the rules of a CronFederatedHPA work?",
     "a rule failed the last time:", CronRuleFailed},
    {"service-missing", "Does the Service of a MultiClusterService exist?",
     "its Service does not exist:", MultiClusterServiceHasNoService},
    {"rebalancing-failed", "Did a WorkloadRebalancer find its workloads?",
     "a workload was not scheduled again:", RebalancingFailed},
    {"quota-exceeded", "Is a quota kept?", "a quota is exceeded:", QuotaIsExceeded},
    {"registry-names", "Does what a registry names exist?",
     "a registry names what is not there:", RegistryNamesWhatIsNotThere},
    {"registry-clusters", "Does karmada-search hold all that a registry is for?",
     "karmada-search does not hold all that a registry is for:", RegistryLacksClusters},
    {"registry-idle", "Has karmada-search looked at a registry?",
     "nothing looks at it:", RegistryIsNotLookedAt},
    {"own-object-fails", "Does an object of Karmada's own report that it fails?",
     "it reports that it fails:", OwnObjectFails},
    {"agent-silent", "Does the agent of a pull cluster renew its Lease?",
     "the agent of a cluster is silent", OwnAgentIsSilent},
    {"cluster-not-judged", "Does a Cluster say whether it is ready?",
     "nobody knows whether it is ready:", ClusterIsNotJudged},
    {"own-object-cluster", "Does it name a cluster that does not exist?",
     "it names a cluster that does not exist:", OwnObjectNamesNoCluster},
    {"policy-kind", "Does the control plane serve what a policy selects?",
     "a policy selects a kind that is not served:", PolicySelectsNoKind},
    {"override-selects-nothing", "Does the override policy select a template?",
     "an override policy selects nothing:", OverrideSelectsNothing},
    {"override-nowhere", "Does the override policy apply to a cluster?",
     "an override policy applies to no cluster:", OverrideAppliesNowhere},
    {"override-refused", "Does a cluster take what the override policy makes?",
     "a cluster refuses what an override policy makes:", OverrideIsRefused},
    {"configuration-broken", "Would admission accept a configuration of the interpreter?",
     "a configuration of the interpreter is broken:", ConfigurationIsBroken},
    {"customization-kind", "Does the control plane serve what a customization is for?",
     "a customization is for a kind that is not served:", CustomizationHasNoKind},
    {"taint-policy-idle", "Does a taint policy match a cluster?",
     "a taint policy matches no cluster:", TaintPolicyMatchesNothing},
    {"policy-governs-nothing", "Does the policy govern a template?",
     "a policy governs nothing:", PolicyGovernsNothing},
    {"quota-refuses", "Does a quota refuse a template?",
     "a quota leaves no room:", QuotaRefusesTemplates},
    {"service-without-endpoints", "Does a provider have endpoints?",
     "no provider has an endpoint:", ServiceHasNoEndpoints},
    {"policy-lacks", "Have the templates of the policy arrived?",
     "templates of a policy have not arrived:", PolicyDoesNotBringAll},
    {"cluster-tainted", "Does a taint keep templates away from the Cluster?",
     "a taint keeps templates away:", ClusterIsTainted},
    {"cluster-lacks", "Does the cluster have its Works?",
     "Works are not applied in a cluster:", ClusterLacksWorks},
    {"own-object-warned", "Do events say that an object of Karmada's own fails?",
     "an event warns of it:", OwnObjectIsWarnedOf},
    {"template-owned", "Does something else propagate it?",
     "something else propagates it:", TemplateHasAnotherOwner},
    {"template-protected", "Is it protected from deletion?", "protected from deletion",
     TemplateIsProtected},
};

}  // namespace

absl::Span<const Check> TemplateChecks() { return kChecks; }

}  // namespace lens::why
