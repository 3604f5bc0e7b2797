// A policy is judged by the bindings that have its claim, a cluster by its Works, and both say
// which of them to ask about. Where a policy governs nothing, the objects that it may be meant for
// are compared with its selectors by the same functions that look for a template's policy.
#include "lens/why/own_kinds.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/binding.h"
#include "api/cluster.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/policy.h"
#include "api/resources.h"
#include "api/work.h"
#include "base/spelling.h"
#include "lens/why/lost_cluster.h"
#include "lens/why/matching.h"
#include "lens/why/own_objects.h"

namespace lens::why {
namespace {

constexpr Step kStep = Step::kTemplate;
constexpr size_t kNamesShown = 5;

bool IsPolicy(const Chain& chain) {
  return chain.object != nullptr && (chain.asked.gvk == api::PropagationPolicies().gvk ||
                                     chain.asked.gvk == api::ClusterPropagationPolicies().gvk);
}

bool IsCluster(const Chain& chain) {
  return chain.object != nullptr && chain.asked.gvk == api::Clusters().gvk;
}

// Returns "a, b and 3 more".
std::string Some(std::vector<std::string> names) {
  const size_t more = names.size() > kNamesShown ? names.size() - kNamesShown : 0;
  names.resize(names.size() - more);
  return absl::StrCat(absl::StrJoin(names, ", "),
                      more > 0 ? absl::StrCat(" and ", more, " more") : "");
}

std::string Count(size_t count, const std::string& what) {
  return absl::StrCat(count, " ", what, count == 1 ? "" : "s");
}

// Returns the command that asks about the object.
std::string AskAbout(const kube::Gvk& gvk, const kube::ObjectKey& key) {
  return absl::StrCat("ask about it: karmada-lens why ", gvk.kind, "/", key.name,
                      key.ns.empty() ? "" : " -n ", key.ns);
}

// The fields in which Karmada's kinds name clusters.
void AddClusters(const json::Value& json, std::vector<std::string>& names) {
  for (const json::Value& item : json.items()) AddClusters(item, names);
  for (const json::Member& m : json.members()) {
    if (m.name() == "clusterNames") {
      for (const json::Value& name : m.value.items()) names.push_back(name.ToString());
    } else if (m.name() == "consumerClusters" || m.name() == "providerClusters") {
      for (const json::Value& item : m.value.items()) names.push_back(item["name"].ToString());
    } else if (m.name() == "clusterName") {
      names.push_back(m.value.ToString());
    } else if (m.name() != "resourceSelectors" && m.name() != "exclude") {
      AddClusters(m.value, names);
    }
  }
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

// Returns what of the template has not arrived, by its binding: "is placed nowhere"; "" when it
// has.
std::string LackOf(const kube::Object& binding) {
  const api::BindingView view(binding);
  const auto is_false = [&](const char* type) {
    const json::Value* condition = kube::FindCondition(view.Conditions(), type);
    return condition != nullptr && (*condition)["status"].AsString() == "False";
  };
  if (is_false(api::kBindingScheduled)) return "is placed nowhere";
  for (const api::AggregatedStatusItem& item : view.AggregatedItems()) {
    if (!item.applied) return absl::StrCat("is not applied in ", item.cluster_name);
    if (item.health == api::kUnhealthy) {
      return absl::StrCat("is not healthy in ", item.cluster_name);
    }
  }
  if (is_false(api::kBindingFullyApplied)) return "is not applied in all its clusters";
  return kube::FindCondition(view.Conditions(), api::kBindingScheduled) == nullptr
             ? "has not been scheduled yet"
             : "";
}

}  // namespace

Findings OwnObjectNamesNoCluster(const Chain& chain) {
  if (chain.object == nullptr || !IsAboutOwnObject(chain) || IsCluster(chain)) return {};
  if (chain.clusters.empty() || !chain.CouldRead(api::Clusters().gvk)) return {};
  std::vector<std::string> known, named;
  for (const auto& [name, cluster] : chain.clusters) known.push_back(name);
  AddClusters(chain.object->spec(), named);
  for (const std::string& name : named) {
    if (name.empty() || chain.clusters.count(name) > 0) continue;
    const auto nearest = base::NearestName(name, known);
    return {{kStep, Grade::kStuck,
             absl::StrCat(chain.Name(), " names the cluster ", name, ", which does not exist",
                          nearest ? absl::StrCat(" (did you mean ", known[*nearest], "?)") : ""),
             nearest ? absl::StrCat("write ", known[*nearest], " there, or join the cluster")
                     : "write the name of a cluster that there is, or join the cluster"}};
  }
  return {};
}

Findings PolicySelectsNoKind(const Chain& chain) {
  if (!IsPolicy(chain) || chain.unserved.empty()) return {};
  return {{kStep, Grade::kStuck,
           absl::StrCat(chain.Name(),
                        " selects what the control plane does not serve: ", Some(chain.unserved)),
           "mend apiVersion and kind there, or apply the missing definition to the control plane"}};
}

Findings AutoscalerHasNoTarget(const Chain& chain) {
  if (chain.object == nullptr || chain.lost_target.empty()) return {};
  return {{kStep, Grade::kStuck,
           absl::StrCat(chain.Name(), " scales ", chain.lost_target, ", which does not exist"),
           "mend spec.scaleTargetRef, or create what it names in the control plane"}};
}

Findings PolicyGovernsNothing(const Chain& chain) {
  if (!IsPolicy(chain) || chain.object->IsDeleting() || !Governed(chain).empty()) return {};
  Finding finding{kStep, Grade::kStuck, absl::StrCat(chain.Name(), " governs no template: "),
                  "change its resourceSelectors, or create what they select"};
  NearMiss nearest;
  for (const kube::ObjectPtr& object : chain.candidates) {
    std::string claim;
    ClaimingPolicy(chain, *object, &claim);
    const bool selects = api::BestMatch(api::PolicyView(*chain.object).ResourceSelectors(),
                                        *object) != api::SelectorMatch::kNone;
    if (selects) {
      absl::StrAppend(&finding.cause, object->Describe(), ", which it selects, ",
                      claim.empty() ? "has not been claimed yet" : "follows ", claim);
      finding.advice = AskAbout(object->gvk(), object->key());
      return {finding};
    }
    NearMiss miss = MissOf(*object, chain.object);
    if (miss.nearness <= nearest.nearness) continue;
    finding.cause = absl::StrCat(chain.Name(), " governs no template: it ", miss.why, "; there is ",
                                 object->Describe());
    finding.advice = miss.advice;
    nearest = std::move(miss);
  }
  if (nearest.policy == nullptr) {
    absl::StrAppend(&finding.cause, "nothing matches its resourceSelectors");
  }
  return {finding};
}

Findings PolicyDoesNotBringAll(const Chain& chain) {
  if (!IsPolicy(chain)) return {};
  std::vector<std::string> lacks;
  const Objects governed = Governed(chain);
  api::ObjectReference first;
  for (const kube::ObjectPtr& binding : governed) {
    const std::string lack = LackOf(*binding);
    if (lack.empty()) continue;
    const api::ObjectReference resource = api::BindingView(*binding).Resource();
    if (lacks.empty()) first = resource;
    lacks.push_back(absl::StrCat(resource.Describe(), " ", lack));
  }
  if (lacks.empty()) return {};
  const std::string some = Some(lacks);
  return {
      {kStep, Grade::kStuck,
       absl::StrCat(chain.Name(), " governs ", Count(governed.size(), "template"), ", of which ",
                    lacks.size(), lacks.size() == 1 ? " has" : " have", " not arrived: ", some),
       AskAbout(first.gvk(), first.key())}};
}

Findings ClusterIsLeaving(const Chain& chain) {
  if (!IsCluster(chain) || !chain.object->IsDeleting()) return {};
  std::vector<std::string> works, bindings;
  for (const kube::ObjectPtr& work : chain.own_works) works.push_back(std::string(work->name()));
  for (const kube::ObjectPtr& binding : chain.own_bindings) {
    const auto expected = api::BindingView(*binding).ExpectedClusters();
    if (expected.count(chain.asked.key.name) > 0) bindings.push_back(binding->Describe());
  }
  std::vector<std::string> waits;
  if (!bindings.empty()) {
    waits.push_back(absl::StrCat(
        Count(bindings.size(), "binding"),
        bindings.size() == 1 ? " that names it: " : " that name it: ", Some(bindings)));
  }
  if (!works.empty()) {
    waits.push_back(absl::StrCat(Count(works.size(), "Work"), " in ",
                                 api::ExecutionNamespace(chain.asked.key.name), ": ", Some(works)));
  }
  if (waits.empty()) return {};
  return {{kStep, Grade::kStuck,
           absl::StrCat(chain.Name(), " is being deleted and waits for ",
                        absl::StrJoin(waits, ", and for ")),
           bindings.empty()
               ? "see whether the member's API server answers: a Work has gone when its "
                 "object has been removed there"
               : "see whether karmada-scheduler runs, which takes the cluster out of "
                 "them; or ask about the first of them"}};
}

Findings ClusterLacksWorks(const Chain& chain) {
  if (!IsCluster(chain) || chain.object->IsDeleting()) return {};
  std::vector<std::string> lacking;
  for (const kube::ObjectPtr& work : chain.own_works) {
    const json::Value* applied =
        kube::FindCondition(api::WorkView(*work).Conditions(), api::kWorkApplied);
    if (applied == nullptr || (*applied)["status"].AsString() != "False") continue;
    const auto manifests = api::WorkView(*work).Manifests();
    if (manifests.empty()) continue;
    const kube::Object object(manifests[0]);
    const bool was_there = object.kind() == "Namespace" && object.api_version() == "v1";
    if (!was_there) lacking.push_back(object.Describe());
  }
  if (lacking.empty()) return {};
  const size_t count = lacking.size();
  return {{kStep, Grade::kStuck,
           absl::StrCat(count, " of ", Count(chain.own_works.size(), "Work"), " of ", chain.Name(),
                        count == 1 ? " is" : " are", " not applied there: ", Some(lacking)),
           "ask why about each of them"}};
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
    return absl::StrCat(chain.Name(), " is ready", ready == nullptr ? "" : Since(*ready),
                        ", and has ", Count(chain.own_works.size(), "Work"));
  }
  return absl::StrCat(chain.Name(), " reports nothing that fails");
}

}  // namespace lens::why
