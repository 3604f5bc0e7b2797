// Each finalizer of Karmada's own has a row: which program takes it away, after what, and what is
// left behind when somebody else does. An API server sets two more for the way of a deletion, which
// the garbage collector ends; all others belong to programs that nobody here knows. For a Work the
// cluster says more, as for a template that does not leave it.

#include "lens/why/own_deletions.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/programs.h"
#include "api/resources.h"
#include "api/work.h"
#include "lens/why/agents.h"
#include "lens/why/namespace_deletion.h"
#include "lens/why/own_objects.h"

namespace lens::why {
namespace {

constexpr char kGarbageCollector[] = "the garbage collector of the control plane";

// Who takes a finalizer away. "$C" in texts stands for the cluster of a Work.
struct Keeper {
  const char* finalizer;
  const kube::Resource& (*of)();  // Of objects of this kind: from others nobody takes it away.
  const char* after;              // What has to happen before: "it has ...".
  const char* otherwise;          // What is left behind when somebody else takes it away.
  const char* gate = "";          // What karmada-controller-manager needs for it besides.
};

constexpr Keeper kKeepers[] = {
    {api::kPropagationPolicyFinalizer, api::PropagationPolicies,
     "it has taken its claim off the templates that it governs",
     "templates would keep the claim of a policy that is gone"},
    {api::kClusterPropagationPolicyFinalizer, api::ClusterPropagationPolicies,
     "it has taken its claim off the templates that it governs",
     "templates would keep the claim of a policy that is gone"},
    {api::kExecutionFinalizer, api::Works, "it has removed the Work's objects from $C",
     "the objects would stay in $C, where nobody would delete them"},
    {api::kBindingFinalizer, api::ResourceBindings, "it has deleted the Works of the binding",
     "the Works would stay, and with them the object in clusters"},
    {api::kClusterBindingFinalizer, api::ClusterResourceBindings,
     "it has deleted the Works of the binding",
     "the Works would stay, and with them the object in clusters"},
    {api::kDependenciesFinalizer, api::ResourceBindings,
     "it has taken back what the binding had brought along",
     "what it needed would stay in clusters", "PropagateDeps"},
    {api::kClusterFinalizer, api::Clusters,
     "the Works of the cluster, and the bindings that name it, have gone",
     "what Karmada has put into the cluster would stay there, and bindings would still name it"},
    {api::kMultiClusterServiceFinalizer, api::MultiClusterServices,
     "it has released the Service and deleted its Works",
     "the Works would stay, and with them the Service in clusters", "MultiClusterService"},
    {api::kEndpointSliceFinalizer, api::Works,
     "it has deleted the EndpointSlices that it made of the Work",
     "the EndpointSlices would stay in the control plane"},
    {api::kEndpointSliceDispatchFinalizer, api::Works,
     "it has deleted the Works that bring the slice to other clusters",
     "the Works would stay, and with them endpoints that there are not", "MultiClusterService"},
};

const Keeper* KeeperOf(absl::string_view finalizer, const kube::Gvk& gvk) {
  for (const Keeper& keeper : kKeepers) {
    const kube::Gvk& of = keeper.of().gvk;
    const bool is_of_kind = of.group == gvk.group && of.kind == gvk.kind;
    if (keeper.finalizer == finalizer && is_of_kind) return &keeper;
  }
  return nullptr;
}

// Returns what an API server sets for a way of deleting, and what the garbage collector waits for;
// "" for other finalizers.
std::string CollectedAfter(absl::string_view finalizer) {
  if (finalizer == "foregroundDeletion") return "what it owns has gone";
  return finalizer == "orphan" ? "it has taken it off what it owns as the owner" : "";
}

constexpr char kNobodyTakesIt[] = "none of Karmada's programs takes away";

// `beside_others`: the object has finalizers of Karmada's, too, which are not to be taken off.
std::string AdviceForForeignFinalizer(absl::string_view finalizer, absl::string_view kind,
                                      const kube::ObjectKey& key, bool beside_others) {
  return absl::StrCat("see which program sets ", finalizer,
                      ", and why it does not take it away; only if that program has gone for "
                      "good, take ",
                      beside_others ? finalizer : "the finalizer", " off: kubectl edit ", kind, " ",
                      key.name, key.ns.empty() ? "" : " -n ", key.ns);
}

std::vector<std::string> FinalizersOf(const kube::Object& object) {
  std::vector<std::string> names;
  for (const json::Value& item : object.metadata()["finalizers"].items()) {
    names.push_back(item.ToString());
  }
  return names;
}

bool IsForeign(absl::string_view finalizer, const kube::Gvk& gvk) {
  return KeeperOf(finalizer, gvk) == nullptr && CollectedAfter(finalizer).empty();
}

// What is deleted, and the cluster of a Work.
class Deletion {
 public:
  explicit Deletion(const Chain& chain) : chain_(chain) {
    if (chain.asked.gvk == api::Works().gvk) {
      cluster_ = std::string(api::ClusterOfExecutionNamespace(chain.asked.key.ns).value_or(""));
    }
  }

  Finding Explain() const {
    std::vector<std::string> waits;
    for (const std::string& finalizer : FinalizersOf(*chain_.object)) {
      waits.push_back(absl::StrCat(finalizer, ", which ", WhoAndWhen(finalizer)));
    }
    const std::string first = FirstToAct();
    const Removal removal = first == api::kExecutionFinalizer && !cluster_.empty()
                                ? WhyNotRemoved(chain_, cluster_)
                                : Removal();
    Finding finding{Step::kTemplate, Grade::kStuck,
                    absl::StrCat(chain_.Name(), " is being deleted since ",
                                 chain_.object->metadata()["deletionTimestamp"].AsString(),
                                 " and waits for its finalizer", waits.size() == 1 ? " " : "s ",
                                 absl::StrJoin(waits, ", and for "), removal.why)};
    finding.advice = AdviceFor(first, removal);
    for (const std::string& finalizer : FinalizersOf(*chain_.object)) {
      if (finalizer == first || !IsForeign(finalizer, chain_.asked.gvk)) continue;
      absl::StrAppend(&finding.advice, "; and ",
                      AdviceForForeignFinalizer(finalizer, chain_.asked.gvk.kind, chain_.asked.key,
                                                /*beside_others=*/true));
      break;  // The others are named with it.
    }
    // What is known of an agent is part of the reason.
    const bool is_managers = KeeperOf(first, chain_.asked.gvk) != nullptr && !IsOfAgent(first);
    if (is_managers || (!CollectedAfter(first).empty() && OwnsHeldBinding())) {
      finding.waits_for = Program::kControllerManager;
    }
    return finding;
  }

 private:
  // Returns the finalizer that is waited for by itself: an API server's own wait for others, and
  // what one of Karmada's programs has to do can be seen from here.
  std::string FirstToAct() const {
    const std::vector<std::string> all = FinalizersOf(*chain_.object);
    for (const auto& is_first : {IsKarmadasFinalizer, IsForeign}) {
      const auto found = std::find_if(all.begin(), all.end(), [&](const std::string& finalizer) {
        return is_first(finalizer, chain_.asked.gvk);
      });
      if (found != all.end()) return *found;
    }
    return all[0];
  }

  // Returns whether the template has a binding that does not go before its Works have.
  bool OwnsHeldBinding() const {
    if (chain_.binding == nullptr || chain_.object == nullptr) return false;
    const std::vector<std::string> all = FinalizersOf(*chain_.binding);
    return std::any_of(all.begin(), all.end(), [&](const std::string& finalizer) {
      return IsKarmadasFinalizer(finalizer, chain_.binding->gvk());
    });
  }

  bool IsOfAgent(absl::string_view finalizer) const {
    return finalizer == api::kExecutionFinalizer && IsPull(chain_, cluster_);
  }

  std::string InCluster(absl::string_view text) const {
    return absl::StrReplaceAll(text, {{"$C", cluster_.empty() ? "its cluster" : cluster_}});
  }

  // Returns "karmada-controller-manager takes away after it has ...".
  std::string WhoAndWhen(const std::string& finalizer) const {
    const std::string collected = CollectedAfter(finalizer);
    if (!collected.empty()) {
      return absl::StrCat(kGarbageCollector, " takes away after ", collected);
    }
    const Keeper* keeper = KeeperOf(finalizer, chain_.asked.gvk);
    if (keeper == nullptr) return kNobodyTakesIt;
    std::string after = InCluster(keeper->after);
    if (finalizer == api::kExecutionFinalizer &&
        api::WorkView(*chain_.object).PreservesResourcesOnDeletion()) {
      after = InCluster("it has let go of the Work's objects in $C, which stay there");
    }
    return absl::StrCat(
        IsOfAgent(finalizer) ? ApplierIn(chain_, cluster_) : std::string(api::kControllerManager),
        " takes away after ", after);
  }

  std::string AdviceFor(const std::string& finalizer, const Removal& removal) const {
    if (!CollectedAfter(finalizer).empty() && OwnsHeldBinding()) {
      return absl::StrCat("see why its ", chain_.binding->Describe(), " does not go: whether ",
                          api::kControllerManager,
                          " runs, and reaches the clusters; the rest happens by itself");
    }
    if (!CollectedAfter(finalizer).empty()) {
      return "see what it owns, and what that waits for; the rest happens by itself";
    }
    const Keeper* keeper = KeeperOf(finalizer, chain_.asked.gvk);
    if (keeper == nullptr) {
      return AdviceForForeignFinalizer(finalizer, chain_.asked.gvk.kind, chain_.asked.key,
                                       /*beside_others=*/false);
    }
    std::string advice = removal.why.empty() ? Look(*keeper) : removal.advice;
    return absl::StrCat(advice, "; do not take the finalizer off, for ",
                        InCluster(keeper->otherwise));
  }

  std::string Look(const Keeper& keeper) const {
    if (IsOfAgent(keeper.finalizer)) return AdviceForAgent(chain_, cluster_);
    std::string look = absl::StrCat("see whether ", api::kControllerManager, " runs");
    if (*keeper.gate != '\0') {
      absl::StrAppend(&look, " with the feature gate ", keeper.gate, " on");
    }
    return absl::StrCat(look, ", and what its log says of ", chain_.Name());
  }

  const Chain& chain_;
  std::string cluster_;  // "" for all but Works.
};

}  // namespace

bool IsKarmadasFinalizer(absl::string_view finalizer, const kube::Gvk& gvk) {
  return KeeperOf(finalizer, gvk) != nullptr;
}

std::string ResourceWithFinalizer(absl::string_view finalizer) {
  for (const Keeper& keeper : kKeepers) {
    if (keeper.finalizer != finalizer) continue;
    return absl::StrCat(keeper.of().plural, ".", keeper.of().gvk.group);
  }
  return "";
}

Holders HoldersOf(const kube::Object& object) {
  std::vector<std::string> known, foreign;
  Holders holders;
  if (!object.IsDeleting()) return holders;
  for (const std::string& finalizer : FinalizersOf(object)) {
    (IsForeign(finalizer, object.gvk()) ? foreign : known).push_back(finalizer);
    if (IsKarmadasFinalizer(finalizer, object.gvk())) holders.has_karmadas = true;
  }
  if (!foreign.empty()) {
    holders.foreign = absl::StrCat(absl::StrJoin(foreign, ", "), ", which ", kNobodyTakesIt);
    holders.advice =
        AdviceForForeignFinalizer(foreign[0], object.kind(), object.key(), holders.has_karmadas);
  }
  holders.text =
      absl::StrCat(absl::StrJoin(known, ", "), known.empty() || foreign.empty() ? "" : ", and for ",
                   holders.foreign);
  return holders;
}

namespace {

// Returns the bindings in the Namespace that one of Karmada's programs has to let go.
std::vector<std::string> HeldBindingsIn(const Chain& chain, absl::string_view ns) {
  std::vector<std::string> names;
  for (const auto& [key, binding] : chain.bindings) {
    if (key.ns == ns && HoldersOf(*binding).has_karmadas) names.push_back(binding->Describe());
  }
  return names;
}

// Returns what becomes of the cluster's objects with the namespace of its Works.
std::string WhatGoesWith(const std::string& cluster) {
  return absl::StrCat("what Karmada has put into ", cluster,
                      " is deleted there with it (unless preserveResourcesOnDeletion keeps it), "
                      "and made again afterwards");
}

// Returns the cluster whose Works the namespace has; "" for others, and for a cluster that leaves.
std::string ClusterOfWorksIn(const Chain& chain, absl::string_view ns) {
  const absl::StatusOr<std::string> name = api::ClusterOfExecutionNamespace(ns);
  if (!name.ok()) return "";
  const auto found = chain.clusters.find(*name);
  return found == chain.clusters.end() || found->second->IsDeleting() ? "" : *name;
}

// Has it wait for the program that takes the cluster's objects away.
void WaitForApplier(const Chain& chain, const std::string& cluster, Finding& finding) {
  finding.waits_for = AppliesIn(chain, cluster);
  if (finding.waits_for != Program::kAgent) return;
  finding.cluster = cluster;
  finding.advice = AdviceForAgent(chain, cluster);
}

// Says for which finalizers of its spec a Namespace waits that contains nothing any more.
void ExplainEmptied(const kube::Object& space, Finding& finding) {
  std::vector<std::string> names;
  for (const json::Value& item : space.spec()["finalizers"].items()) {
    names.push_back(item.ToString());
  }
  finding.advice = "wait a moment: it contains nothing any more";
  if (names.empty()) return;
  absl::StrAppend(&finding.cause, " and waits for ", absl::StrJoin(names, ", "),
                  " in its spec.finalizers, which ", kNobodyTakesIt);
  finding.advice =
      absl::StrCat("see which program sets ", names[0], ", and why it does not take it away");
}

Finding ExplainNamespace(const Chain& chain) {
  const kube::Object& space = *chain.object;
  const bool has_finalizers = !FinalizersOf(space).empty();
  const NamespaceHold hold = HoldOf(space, /*cluster=*/"");
  const std::vector<std::string> bindings = HeldBindingsIn(chain, space.name());
  Finding finding{Step::kTemplate, Grade::kStuck,
                  absl::StrCat(chain.Name(), " is being deleted since ",
                               space.metadata()["deletionTimestamp"].AsString()),
                  "see what is left in it; the rest happens by itself"};
  if (has_finalizers) finding = Deletion(chain).Explain();
  const std::string contents = hold.text.empty() ? Some(bindings) : hold.text;
  const bool is_emptied = IsEmptied(space);
  if (!has_finalizers && is_emptied) ExplainEmptied(space, finding);
  if ((!has_finalizers && !is_emptied) || !contents.empty()) {
    absl::StrAppend(&finding.cause, has_finalizers ? ", and" : " and waits",
                    " for what it contains", contents.empty() ? "" : ": ", contents);
  }
  if (!hold.advice.empty()) {
    finding.advice =
        has_finalizers ? absl::StrCat(finding.advice, "; and ", hold.advice) : hold.advice;
  }
  if (hold.waits_for_karmada || !bindings.empty()) {
    finding.waits_for = Program::kControllerManager;
    if (hold.advice.empty()) {
      finding.advice = absl::StrCat("see whether ", api::kControllerManager,
                                    " runs, and what its log says of these bindings");
    }
  }
  const std::string cluster = ClusterOfWorksIn(chain, space.name());
  if (!cluster.empty()) {
    absl::StrAppend(&finding.cause, "; ", WhatGoesWith(cluster));
    if (hold.waits_for_karmada) WaitForApplier(chain, cluster, finding);
  }
  return finding;
}

}  // namespace

std::string ItsFinalizers(const kube::Object& object) {
  return object.metadata()["finalizers"].size() == 1 ? "its finalizer" : "its finalizers";
}

Findings OwnObjectIsBeingDeleted(const Chain& chain) {
  if (chain.object == nullptr || !IsAboutOwnObject(chain)) return {};
  if (!chain.object->IsDeleting() || FinalizersOf(*chain.object).empty()) return {};
  Finding finding = Deletion(chain).Explain();
  if (chain.asked.gvk == api::PropagationPolicies().gvk ||
      chain.asked.gvk == api::ClusterPropagationPolicies().gvk) {
    absl::StrAppend(&finding.cause, "; what is changed in it now is lost with it");
  }
  return {std::move(finding)};
}

Findings WorksOfClusterAreBeingDeleted(const Chain& chain) {
  if (chain.asked.gvk != api::Clusters().gvk || chain.object == nullptr) return {};
  const bool is_leaving = chain.object->IsDeleting();
  if (is_leaving || chain.space == nullptr || !chain.space->IsDeleting()) return {};
  Finding finding{Step::kTemplate, Grade::kWaiting,
                  absl::StrCat("the namespace ", chain.space->name(), " of the Works of ",
                               chain.Name(), " is being deleted since ",
                               chain.space->metadata()["deletionTimestamp"].AsString(), "; ",
                               WhatGoesWith(chain.asked.key.name)),
                  "wait: a namespace that is being deleted has to go before it is made again; see "
                  "who deletes it"};
  WaitForApplier(chain, chain.asked.key.name, finding);
  return {std::move(finding)};
}

Findings TemplateIsBeingDeleted(const Chain& chain) {
  if (chain.object == nullptr || !chain.object->IsDeleting()) return {};
  const bool has_finalizers = !FinalizersOf(*chain.object).empty();
  if (IsAboutOwnObject(chain) && has_finalizers) return {};
  if (chain.IsNamespace()) return {ExplainNamespace(chain)};
  if (has_finalizers) return {Deletion(chain).Explain()};
  return {{Step::kTemplate, Grade::kStuck,
           absl::StrCat(chain.Name(), " is being deleted since ",
                        chain.object->metadata()["deletionTimestamp"].AsString(),
                        " and waits for what it owns"),
           "wait until its dependents are gone"}};
}

}  // namespace lens::why
