// A policy is judged by the bindings that have its claim, a cluster by its Works, and both say
// which of them to ask about. Where a policy governs nothing, the objects that it may be meant for
// are compared with its selectors by the same functions that look for a template's policy.

#include "lens/why/own_kinds.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/binding.h"
#include "api/binding_address.h"
#include "api/cluster.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/policy.h"
#include "api/resources.h"
#include "api/work.h"
#include "kube/meta/quantity.h"
#include "lens/why/agents.h"
#include "lens/why/lost_cluster.h"
#include "lens/why/matching.h"
#include "lens/why/named_clusters.h"
#include "lens/why/own_objects.h"
#include "lens/why/own_registries.h"
#include "lens/why/own_taints.h"
#include "lens/why/preemption.h"
#include "lens/why/refusals.h"

namespace lens::why {
namespace {

constexpr Step kStep = Step::kTemplate;

bool IsPolicy(const Chain& chain) {
  return chain.object != nullptr && (chain.asked.gvk == api::PropagationPolicies().gvk ||
                                     chain.asked.gvk == api::ClusterPropagationPolicies().gvk);
}

bool IsCluster(const Chain& chain) {
  return chain.object != nullptr && chain.asked.gvk == api::Clusters().gvk;
}

std::string Count(size_t count, const std::string& what) {
  return absl::StrCat(count, " ", what, count == 1 ? "" : "s");
}

// The bindings that have the policy's claim.
Objects Governed(const Chain& chain) {
  Objects governed;
  for (const kube::ObjectPtr& binding : chain.own_bindings) {
    std::string claim;
    ClaimingPolicy(chain, *binding, &claim);
    if (claim == chain.Name()) governed.push_back(binding);
  }
  return governed;
}

// What of a template has not arrived.
struct Lack {
  std::string text;  // "is placed nowhere"; "" when all of it has.
  Program waits_for = Program::kNone;
};

// Returns what its binding says of that. What nobody has reported has not arrived.
Lack LackOf(const kube::Object& binding) {
  const api::BindingView view(binding);
  const auto status_of = [&](const char* type) {
    const json::Value* condition = kube::FindCondition(view.Conditions(), type);
    return condition == nullptr ? "" : (*condition)["status"].ToString();
  };
  if (status_of(api::kBindingScheduled) == "False") return {"is placed nowhere"};
  for (const api::AggregatedStatusItem& item : view.AggregatedItems()) {
    if (!item.applied) return {absl::StrCat("is not applied in ", item.cluster_name)};
    if (item.health == api::kUnhealthy) {
      return {absl::StrCat("is not healthy in ", item.cluster_name)};
    }
  }
  const std::string applied = status_of(api::kBindingFullyApplied);
  if (applied == "False") return {"is not applied in all its clusters"};
  if (status_of(api::kBindingScheduled).empty()) {
    return {"has not been scheduled yet", Program::kScheduler};
  }
  if (applied.empty() && !view.DispatchTargets().empty()) {
    return {"is not known to be applied yet", Program::kControllerManager};
  }
  return {};
}

// Says why the policy has not taken the object over from the one that it follows.
void ExplainByClaim(const Chain& chain, const kube::Object& object, Finding& finding) {
  std::string claim;
  const kube::ObjectPtr claiming = ClaimingPolicy(chain, object, &claim);
  if (claiming == nullptr) return;
  const Match own = MatchOf(chain.object, object);
  const Match other = MatchOf(claiming, object);
  const Refused refused = WhyNotTakenOver(own, other, object);
  absl::StrAppend(
      &finding.cause, "; it ",
      GoesBefore(own, other) ? absl::StrCat("fits better (", WhyBefore(own, other), ") but ") : "",
      refused.text);
  finding.advice = absl::StrCat(refused.advice, refused.is_due ? "" : OrDelete(other));
  if (!refused.is_due) return;
  finding.grade = Grade::kWaiting;
  finding.waits_for = Program::kControllerManager;
}

// Returns the object that the Work brings; a Work may be empty.
kube::Object ObjectIn(const kube::Object& work) {
  const auto manifests = api::WorkView(work).Manifests();
  return manifests.empty() ? kube::Object() : kube::Object(manifests[0]);
}

bool IsNamespace(const kube::Object& object) {
  return object.kind() == "Namespace" && object.api_version() == "v1";
}

// Returns what the Works of the cluster bring, Namespaces last: each cluster has all of those.
std::vector<std::string> Brought(const Chain& chain) {
  std::vector<std::string> names, namespaces;
  for (const kube::ObjectPtr& work : chain.own_works) {
    const kube::Object object = ObjectIn(*work);
    const std::string name = object.kind().empty() ? work->Describe() : object.Describe();
    (IsNamespace(object) ? namespaces : names).push_back(name);
  }
  names.insert(names.end(), namespaces.begin(), namespaces.end());
  return names;
}

// Returns "; " and what the first Work of the cluster says that fails; "" when none does.
std::string FirstFailure(const Chain& chain) {
  for (const kube::ObjectPtr& work : chain.own_works) {
    const json::Value* applied =
        kube::FindCondition(api::WorkView(*work).Conditions(), api::kWorkApplied);
    if (applied == nullptr || (*applied)["status"].AsString() != "False") continue;
    if (!IsNamespace(ObjectIn(*work))) {
      return absl::StrCat("; ", ShortMessage((*applied)["message"].AsString()));
    }
  }
  return "";
}

}  // namespace

Objects ClaimedOnly(const Chain& chain) {
  std::set<std::string> seen;
  for (const kube::ObjectPtr& binding : chain.own_bindings) seen.insert(binding->Describe());
  Objects claimed;
  for (const kube::ObjectPtr& object : chain.candidates) {
    std::string claim;
    ClaimingPolicy(chain, *object, &claim);
    if (claim != chain.Name() || object->IsDeleting()) continue;
    const api::BindingAddress at = api::BindingOf(object->kind(), object->key());
    if (!chain.CouldRead(at.resource.gvk, at.key)) continue;
    const std::string binding = absl::StrCat(at.resource.gvk.kind, " ", at.key.ToString());
    // Two selectors may have read it twice.
    if (seen.insert(binding).second) claimed.push_back(object);
  }
  return claimed;
}

Findings OwnObjectNamesNoCluster(const Chain& chain) {
  if (chain.object == nullptr || !IsAboutOwnObject(chain) || IsCluster(chain)) return {};
  if (chain.clusters.empty() || !chain.CouldRead(api::Clusters().gvk)) return {};
  const UnknownCluster unknown = FindUnknownCluster(chain, chain.object->spec());
  if (unknown.text.empty()) return {};
  return {{kStep, Grade::kStuck, absl::StrCat(chain.Name(), " names ", unknown.text),
           unknown.meant.empty()
               ? "write the name of a cluster that there is, take it out there, or join the cluster"
               : absl::StrCat("write ", unknown.meant, " there, or join the cluster")}};
}

Findings PolicySelectsNoKind(const Chain& chain) {
  if (chain.object == nullptr || chain.unserved.empty()) return {};
  if (chain.object->spec()["resourceSelectors"].empty()) return {};
  return {{kStep, Grade::kStuck,
           absl::StrCat(chain.Name(),
                        " selects what the control plane does not serve: ", Some(chain.unserved)),
           "mend apiVersion and kind there, or apply the missing definition to the control plane"}};
}

Findings MultiClusterServiceHasNoService(const Chain& chain) {
  if (chain.object == nullptr || chain.asked.gvk != api::MultiClusterServices().gvk) return {};
  if (chain.lost_target.empty() || chain.object->IsDeleting()) return {};
  return {{kStep, Grade::kStuck,
           absl::StrCat(chain.Name(), " is for ", chain.lost_target, ", which does not exist"),
           "create that Service in the control plane"}};
}

Findings AutoscalerHasNoTarget(const Chain& chain) {
  if (chain.object == nullptr || chain.lost_target.empty()) return {};
  if (chain.asked.gvk == api::MultiClusterServices().gvk) return {};
  return {{kStep, Grade::kStuck,
           absl::StrCat(chain.Name(), " scales ", chain.lost_target, ", which does not exist"),
           "mend spec.scaleTargetRef, or create what it names in the control plane"}};
}

Findings PolicyGovernsNothing(const Chain& chain) {
  if (!IsPolicy(chain) || chain.object->IsDeleting() || !chain.CouldReadBinding()) return {};
  if (!Governed(chain).empty() || !ClaimedOnly(chain).empty()) return {};
  Finding finding{kStep, Grade::kStuck, absl::StrCat(chain.Name(), " governs no template: "),
                  "change its resourceSelectors, or create what they select"};
  NearMiss nearest;
  for (const kube::ObjectPtr& object : chain.candidates) {
    std::string claim;
    ClaimingPolicy(chain, *object, &claim);
    const bool selects = api::BestMatch(api::PolicyView(*chain.object).ResourceSelectors(),
                                        *object) != api::SelectorMatch::kNone;
    if (selects) {
      // A near miss may have been found before.
      finding.cause = absl::StrCat(chain.Name(), " governs no template: ", object->Describe(),
                                   ", which it selects, ",
                                   claim.empty() ? "has not been claimed yet" : "follows ", claim);
      finding.advice = chain.asked.AskAbout(object->gvk(), object->key());
      ExplainByClaim(chain, *object, finding);
      return {finding};
    }
    NearMiss miss = MissOf(*object, chain.object);
    if (miss.nearness <= nearest.nearness) continue;
    finding.cause = absl::StrCat(chain.Name(), " governs no template: it ", miss.why, "; there is ",
                                 object->Describe());
    finding.advice = miss.advice;
    nearest = std::move(miss);
  }
  // It may be meant for what could not be read.
  if (!UnreadKinds(chain).empty()) return {};
  if (nearest.policy == nullptr) {
    absl::StrAppend(&finding.cause, "nothing matches its resourceSelectors");
  }
  return {finding};
}

Findings PolicyDoesNotBringAll(const Chain& chain) {
  if (!IsPolicy(chain)) return {};
  std::vector<std::string> lacks;
  Finding finding{kStep, Grade::kStuck};
  const auto add = [&](const api::ObjectReference& resource, const Lack& lack) {
    if (lack.text.empty()) return;
    if (lacks.empty()) {
      finding.advice = chain.asked.AskAbout(resource.gvk(), resource.key());
      finding.waits_for = lack.waits_for;
    }
    lacks.push_back(absl::StrCat(resource.Describe(), " ", lack.text));
  };
  const Objects governed = Governed(chain), claimed = ClaimedOnly(chain);
  for (const kube::ObjectPtr& binding : governed) {
    add(api::BindingView(*binding).Resource(), LackOf(*binding));
  }
  // A lazy policy waits for an edit, and not for a program.
  const bool is_lazy = api::PolicyView(*chain.object).IsLazy();
  for (const kube::ObjectPtr& object : claimed) {
    add(api::ObjectReference::Of(*object),
        {"is claimed and has no binding yet",
         is_lazy ? Program::kNone : Program::kControllerManager});
  }
  if (lacks.empty()) return {};
  finding.cause = absl::StrCat(
      chain.Name(), " governs ", Count(governed.size() + claimed.size(), "template"), ", of which ",
      lacks.size(), lacks.size() == 1 ? " has" : " have", " not arrived: ", Some(lacks));
  return {std::move(finding)};
}

// Returns what to do about a cluster that waits for these bindings, or else for its Works.
std::string AdviceForLeaving(const Chain& chain, const Objects& bindings) {
  if (!bindings.empty()) {
    const api::BindingView first(*bindings[0]);
    if (first.IsSchedulingSuspended()) {
      return "set spec.suspension.scheduling of the binding to false; a quarter of an hour after "
             "the deletion karmada-controller-manager takes the cluster out of it by itself";
    }
    return "see whether karmada-scheduler runs, which takes the cluster out of them; or ask about "
           "the first of them";
  }
  for (const kube::ObjectPtr& work : chain.own_works) {
    const kube::Object object = ObjectIn(*work);
    if (!object.kind().empty() && !IsNamespace(object)) {
      return chain.asked.AskAbout(object.gvk(), object.key());
    }
  }
  return "wait a moment: a Work has gone when its object has been removed there";
}

Findings ClusterIsLeaving(const Chain& chain) {
  if (!IsCluster(chain) || !chain.object->IsDeleting()) return {};
  const std::vector<std::string> works = Brought(chain);
  std::vector<std::string> names;
  Objects bindings;
  for (const kube::ObjectPtr& binding : chain.own_bindings) {
    const auto expected = api::BindingView(*binding).ExpectedClusters();
    if (expected.count(chain.asked.key.name) == 0) continue;
    const bool suspended = api::BindingView(*binding).IsSchedulingSuspended();
    bindings.insert(suspended ? bindings.begin() : bindings.end(), binding);
    names.push_back(absl::StrCat(
        binding->Describe(), suspended ? " (its scheduling is suspended: spec.suspension)" : ""));
  }
  std::vector<std::string> waits;
  if (!works.empty()) {
    waits.push_back(absl::StrCat(Count(works.size(), "Work"), " in ",
                                 api::ExecutionNamespace(chain.asked.key.name), ": ", Some(works),
                                 FirstFailure(chain)));
  }
  if (!names.empty()) {
    waits.push_back(
        absl::StrCat(Count(names.size(), "binding"),
                     names.size() == 1 ? " that names it: " : " that name it: ", Some(names)));
  }
  if (waits.empty()) return {};
  // Bindings that name it are waited for when its Works have gone.
  Finding finding{kStep, Grade::kStuck,
                  absl::StrCat(chain.Name(), " is being deleted since ",
                               chain.object->metadata()["deletionTimestamp"].AsString(),
                               " and waits for ", absl::StrJoin(waits, ", and for ")),
                  AdviceForLeaving(chain, works.empty() ? bindings : Objects())};
  finding.waits_for = Program::kControllerManager;
  if (!CheckProgram(chain, finding).empty()) return {std::move(finding)};
  // Its agent removes what is in it, and the scheduler takes it out of bindings.
  finding.waits_for = works.empty() ? Program::kScheduler : AppliesIn(chain, chain.asked.key.name);
  if (finding.waits_for == Program::kAgent) finding.cluster = chain.asked.key.name;
  return {std::move(finding)};
}

// The condition is written within seconds by who looks at the cluster.
Findings ClusterIsNotJudged(const Chain& chain) {
  if (!IsCluster(chain) || chain.object->IsDeleting()) return {};
  const api::ClusterView view(*chain.object);
  if (!view.ReadyStatus().empty()) return {};
  Finding finding{
      kStep, Grade::kWaiting,
      absl::StrCat(chain.Name(), " has no condition Ready, so nobody knows whether it is ready"),
      "see whether karmada-controller-manager runs, which writes the condition"};
  finding.waits_for = Program::kControllerManager;
  if (view.IsPull()) {
    finding.advice = AdviceForAgent(chain, chain.asked.key.name);
    finding.waits_for = Program::kAgent;
    finding.cluster = chain.asked.key.name;
  }
  return {std::move(finding)};
}

Findings ClusterLacksWorks(const Chain& chain) {
  if (!IsCluster(chain) || chain.object->IsDeleting()) return {};
  std::vector<std::string> lacking;
  for (const kube::ObjectPtr& work : chain.own_works) {
    const json::Value* applied =
        kube::FindCondition(api::WorkView(*work).Conditions(), api::kWorkApplied);
    if (applied == nullptr || (*applied)["status"].AsString() != "False") continue;
    const kube::Object object = ObjectIn(*work);
    if (!object.kind().empty() && !IsNamespace(object)) lacking.push_back(object.Describe());
  }
  if (lacking.empty()) return {};
  const size_t count = lacking.size();
  return {{kStep, Grade::kStuck,
           absl::StrCat(count, " of ", Count(chain.own_works.size(), "Work"), " of ", chain.Name(),
                        count == 1 ? " is" : " are", " not applied there: ", Some(lacking)),
           "ask why about each of them"}};
}

Findings RebalancingFailed(const Chain& chain) {
  if (chain.object == nullptr || chain.asked.gvk != api::WorkloadRebalancers().gvk) return {};
  for (const json::Value& observed : chain.object->status()["observedWorkloads"].items()) {
    if (observed["result"].AsString() != "Failed") continue;
    const json::Value& workload = observed["workload"];
    const auto gvk = kube::ParseGvk(workload["apiVersion"].AsString(), workload["kind"].AsString());
    const kube::ObjectKey key{workload["namespace"].ToString(), workload["name"].ToString()};
    const std::string name = absl::StrCat(workload["kind"].AsString(), " ", key.ToString());
    return {{kStep, Grade::kStuck,
             absl::StrCat(chain.Name(), " has not had ", name,
                          " scheduled again: ", observed["reason"].AsString("no reason given")),
             gvk.ok() ? absl::StrCat("mend its name in spec.workloads, or ",
                                     chain.asked.AskAbout(*gvk, key))
                      : "mend its name in spec.workloads"}};
  }
  return {};
}

// What was there before the quota counts, too, and is not taken away.
Findings QuotaIsExceeded(const Chain& chain) {
  const kube::Resource& quotas = api::FederatedResourceQuotas();
  if (chain.object == nullptr || chain.asked.gvk != quotas.gvk) return {};
  const auto value = [](const json::Value& list, absl::string_view name) {
    const json::Value& item = list[name];
    return kube::Quantity::Parse(item.is_int() ? absl::StrCat(item.AsInt()) : item.ToString("0"));
  };
  std::vector<std::string> exceeded;
  for (const json::Member& m : chain.object->spec()["overall"].members()) {
    const auto limit = value(chain.object->spec()["overall"], m.name());
    const auto used = value(chain.object->status()["overallUsed"], m.name());
    if (!limit.ok() || !used.ok() || !(*limit < *used)) continue;
    exceeded.push_back(absl::StrCat(used->ToString(), " of ", limit->ToString(), " ", m.name()));
  }
  if (exceeded.empty()) return {};
  return {{kStep, Grade::kStuck, absl::StrCat(chain.Name(), " is exceeded: ", Some(exceeded)),
           absl::StrCat("raise spec.overall, or use less of it in the namespace ",
                        chain.asked.key.ns, "; what is there stays")}};
}

bool CouldJudgeOwn(const Chain& chain) {
  const bool governs_nothing = IsPolicy(chain) && Governed(chain).empty();
  return !governs_nothing || UnreadKinds(chain).empty();
}

std::string OwnState(const Chain& chain) {
  if (IsPolicy(chain)) {
    const size_t count = Governed(chain).size();
    return absl::StrCat(chain.Name(), " governs ", Count(count, "template"),
                        count == 1 ? ", which has arrived" : ", and all of them have arrived");
  }
  if (IsCluster(chain)) {
    const json::Value* ready =
        kube::FindCondition(api::ClusterView(*chain.object).Conditions(), api::kClusterReady);
    std::string state =
        absl::StrCat(chain.Name(), " is ready", ready == nullptr ? "" : Since(*ready), ", and has ",
                     Count(chain.own_works.size(), "Work"));
    const std::vector<std::string> taints = TaintsThatKeepAway(*chain.object);
    if (!taints.empty()) {
      absl::StrAppend(&state, "; what does not tolerate ", Some(taints), " is not placed there");
    }
    return state;
  }
  if (IsRegistry(chain)) return RegistryState(chain);
  return absl::StrCat(chain.Name(), " reports nothing that fails");
}

}  // namespace lens::why
