// Checks of what the template needs, and of those that need it.

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/binding.h"
#include "api/binding_address.h"
#include "api/keys.h"
#include "api/reasons.h"
#include "api/work.h"
#include "interpreter/interpreter.h"
#include "lens/why/checks.h"
#include "lens/why/diagnosis.h"
#include "lens/why/interpretation.h"
#include "lens/why/matching.h"
#include "lens/why/refusals.h"

namespace lens::why {
namespace {

constexpr Step kStep = Step::kDependencies;

// What a workload's references to ConfigMaps and Secrets in `json` say about one of them.
struct Mentions {
  bool any = false;
  bool required = false;
};

bool NamesKind(absl::string_view field, absl::string_view kind) {
  return kind == "ConfigMap" ? absl::StartsWith(field, "configMap")
                             : kind == "Secret" && absl::StartsWith(field, "secret");
}

void AddMentions(const json::Value& json, const api::DependentReference& reference,
                 Mentions& mentions) {
  for (const json::Value& item : json.items()) AddMentions(item, reference, mentions);
  for (const json::Member& m : json.members()) {
    const json::Value& name = m.value.Has("secretName") ? m.value["secretName"] : m.value["name"];
    if (NamesKind(m.name(), reference.kind) && name.AsString() == reference.name) {
      mentions.any = true;
      mentions.required = mentions.required || !m.value["optional"].AsBool();
    }
    AddMentions(m.value, reference, mentions);
  }
}

// Returns whether the object is in another namespace than the template, which it does not follow.
bool IsElsewhere(const Chain& chain, const api::DependentReference& reference) {
  return !reference.ns.empty() && !chain.asked.key.ns.empty() && reference.ns != chain.asked.key.ns;
}

// Returns whether the template does without the object: each of its references says optional.
bool IsOptional(const Chain& chain, const api::DependentReference& reference) {
  if (chain.object == nullptr) return false;
  Mentions mentions;
  AddMentions(chain.object->spec(), reference, mentions);
  return mentions.any && !mentions.required;
}

bool IsTarget(const Chain& chain, const std::string& cluster) {
  const std::vector<api::TargetCluster> targets = chain.Targets();
  return std::any_of(targets.begin(), targets.end(),
                     [&](const api::TargetCluster& target) { return target.name == cluster; });
}

// Returns whether the template has not come up in one of its clusters.
bool SomeTargetFails(const Chain& chain) {
  for (const api::TargetCluster& target : chain.Targets()) {
    const auto work = chain.works.find(target.name);
    if (work == chain.works.end()) return true;
    const bool applied = api::WorkView(*work->second).IsApplied();
    if (!applied || HealthIn(chain, *work->second) == api::kUnhealthy) return true;
  }
  return false;
}

// Returns "; the namespace shop-x has one" if one other namespace has what is missing; ""
// otherwise: several are simply what other teams have.
std::string Elsewhere(const Chain& chain, const std::string& name) {
  const auto found = chain.missing_elsewhere.find(name);
  if (found == chain.missing_elsewhere.end() || found->second.size() != 1) return "";
  return absl::StrCat("; the namespace ", found->second[0], " has one");
}

Findings DependenciesAreMissing(const Chain& chain) {
  if (chain.binding == nullptr || chain.missing.empty()) return {};
  std::vector<std::string> names;
  for (const api::DependentReference& reference : chain.missing) {
    if (!chain.CouldRead(reference.gvk(), {reference.ns, reference.name})) continue;
    if (IsOptional(chain, reference) || IsElsewhere(chain, reference)) continue;
    names.push_back(reference.Describe());
  }
  if (names.empty()) return {};
  // A member may have it from elsewhere, and what has come up does not need it.
  const bool held_up = api::BindingView(*chain.binding).PropagateDeps() && SomeTargetFails(chain);
  return {
      {kStep, held_up ? Grade::kStuck : Grade::kNote,
       absl::StrCat(chain.Name(), " needs ", absl::StrJoin(names, ", "), ", which ",
                    names.size() == 1 ? "does" : "do", " not exist in the control plane",
                    names.size() == 1 ? Elsewhere(chain, names[0]) : ""),
       api::BindingView(*chain.binding).PropagateDeps()
           ? "create it there; it then follows by itself"
           : "create it there, and set propagateDeps: true in the policy or give it a policy of "
             "its own"}};
}

// Returns the binding of what the template needs; nullptr when there is none, or it is another's.
const kube::Object* BindingOf(const Chain& chain, const api::DependentReference& reference) {
  const api::BindingAddress at = api::BindingOf(reference.kind, {reference.ns, reference.name});
  const auto found = chain.bindings.find(at.key);
  if (found == chain.bindings.end() || found->second->gvk() != at.resource.gvk) return nullptr;
  const api::ObjectReference resource = api::BindingView(*found->second).Resource();
  const bool is_its = resource.kind == reference.kind && resource.name == reference.name;
  return is_its ? found->second.get() : nullptr;
}

// Where an object that the template needs goes by a policy of its own.
struct OwnWay {
  std::string policy;    // "" for none.
  std::string clusters;  // "member2, member3"; "no cluster".
};

OwnWay OwnWayOf(const Chain& chain, const api::DependentReference& reference) {
  const kube::Object* own = BindingOf(chain, reference);
  if (own == nullptr) return {};
  OwnWay way;
  ClaimingPolicy(chain, *own, &way.policy);
  way.clusters = ClusterList(api::BindingView(*own).Clusters());
  return way;
}

// Returns what to do about an object that the template needs and a member does not have.
std::string AdviceForLack(const Chain& chain, const std::string& cluster,
                          const api::DependentReference& reference) {
  const bool is_known =
      std::find(chain.needed.begin(), chain.needed.end(), reference) != chain.needed.end();
  if (!is_known) {
    return absl::StrCat("create it in ", cluster, ", or name one that ", cluster,
                        " has, by an override for this cluster");
  }
  const bool exists =
      std::find(chain.missing.begin(), chain.missing.end(), reference) == chain.missing.end();
  const std::string follow = "set propagateDeps: true in the policy or select it in a policy, too";
  if (!api::BindingView(*chain.binding).PropagateDeps()) {
    const OwnWay own = OwnWayOf(chain, reference);
    if (!own.policy.empty()) {
      return absl::StrCat("set propagateDeps: true in the policy, or allow ", cluster, " in ",
                          own.policy);
    }
    return absl::StrCat(exists ? "" : "create it in the control plane, and ", follow);
  }
  return exists ? absl::StrCat("ask why about ", reference.Describe())
                : "create it in the control plane; it then follows by itself";
}

// Returns "; PropagationPolicy shop/settings brings it to member2" for what does not follow the
// template; "" otherwise.
std::string WhereItGoes(const Chain& chain, const api::DependentReference& reference) {
  if (api::BindingView(*chain.binding).PropagateDeps()) return "";
  const OwnWay own = OwnWayOf(chain, reference);
  return own.policy.empty() ? "" : absl::StrCat("; ", own.policy, " brings it to ", own.clusters);
}

// What is missing is known from the member itself: it may have it from elsewhere.
Findings MemberLacksWhatItNeeds(const Chain& chain) {
  Findings findings;
  if (chain.binding == nullptr || chain.object == nullptr) return findings;
  for (const api::TargetCluster& target : chain.Targets()) {
    const auto lacks = chain.lacking.find(target.name);
    if (lacks == chain.lacking.end()) continue;
    for (const api::DependentReference& reference : lacks->second) {
      if (IsOptional(chain, reference)) continue;
      findings.push_back({Step::kMember, Grade::kStuck,
                          absl::StrCat(chain.Name(), " is not healthy in ", target.name, ": ",
                                       reference.Describe(), ", which it needs, is not there",
                                       WhereItGoes(chain, reference)),
                          AdviceForLack(chain, target.name, reference), target.name});
    }
  }
  return findings;
}

// What a template takes along has Works of its own, of which its own conditions say nothing. The
// member may even have come up, with another object of that name.
Findings DependencyIsRefused(const Chain& chain) {
  Findings findings;
  if (chain.binding == nullptr || chain.object == nullptr) return findings;
  for (const api::DependentReference& reference : chain.needed) {
    const kube::Object* own = BindingOf(chain, reference);
    if (own == nullptr) continue;
    for (const api::AggregatedStatusItem& item : api::BindingView(*own).AggregatedItems()) {
      const bool is_target = IsTarget(chain, item.cluster_name);
      if (!is_target || item.applied || item.applied_message.empty()) continue;
      findings.push_back(
          {Step::kMember, IsOptional(chain, reference) ? Grade::kNote : Grade::kStuck,
           absl::StrCat(chain.Name(), " needs ", reference.Describe(),
                        ", which does not arrive in ", item.cluster_name, ": ",
                        CauseOfRefusal(chain, item.cluster_name, item.applied_message)),
           chain.asked.AskAbout(reference.gvk(), {reference.ns, reference.name}),
           item.cluster_name});
    }
  }
  return findings;
}

// Returns what a workload's pod template refers to and a customization does not name.
std::vector<api::DependentReference> Omitted(const Chain& chain) {
  constexpr interpreter::Operation kOp = interpreter::Operation::kInterpretDependency;
  const interpreter::RuleName rule = chain.rules->RuleFor(chain.asked.gvk, kOp);
  if (rule.layer != interpreter::kCustomizationLayer) return {};
  const auto native = interpreter::NewNativeBackend();
  if (!native->Has(chain.asked.gvk, kOp)) return {};
  const auto named = chain.rules->WithoutWebhooks().GetDependencies(*chain.object);
  const auto all = native->GetDependencies(*chain.object);
  if (!named.ok() || !all.ok()) return {};
  const std::vector<api::DependentReference> known = api::DependenciesFromJson(*named);
  std::vector<api::DependentReference> omitted = api::DependenciesFromJson(*all);
  omitted.erase(std::remove_if(omitted.begin(), omitted.end(),
                               [&](const api::DependentReference& reference) {
                                 return std::find(known.begin(), known.end(), reference) !=
                                        known.end();
                               }),
                omitted.end());
  return omitted;
}

Findings CustomizationOmitsDependencies(const Chain& chain) {
  if (chain.binding == nullptr || chain.object == nullptr) return {};
  if (!api::BindingView(*chain.binding).PropagateDeps()) return {};
  std::vector<std::string> names;
  for (const api::DependentReference& reference : Omitted(chain)) {
    names.push_back(reference.Describe());
  }
  if (names.empty()) return {};
  const std::string customization =
      chain.rules->RuleFor(chain.asked.gvk, interpreter::Operation::kInterpretDependency).name;
  return {{kStep, Grade::kNote,
           absl::StrCat(chain.Name(), " refers to ", absl::StrJoin(names, ", "),
                        ", which the customization ", customization,
                        " does not name among what it needs, so ",
                        names.size() == 1 ? "it does" : "they do", " not go along"),
           absl::StrCat("have GetDependencies of ResourceInterpreterCustomization ", customization,
                        " return it, or select it in a policy")}};
}

Findings DependenciesCannotBeRead(const Chain& chain) {
  if (chain.object == nullptr) return {};
  const std::string failed =
      StandingFailure(chain, *chain.object, api::reason::kGetDependenciesFailed,
                      api::reason::kGetDependenciesSucceed);
  if (failed.empty()) return {};
  return {{kStep, Grade::kStuck,
           absl::StrCat("the interpreter cannot determine what ", chain.Name(), " needs: ", failed),
           AdviceForInterpreter(chain, failed)}};
}

// The distributor leaves its finalizer on each binding that propagates dependencies and has
// clusters.
Findings DistributorIsOff(const Chain& chain) {
  if (chain.binding == nullptr || chain.needed.empty()) return {};
  const api::BindingView view(*chain.binding);
  if (!view.PropagateDeps() || chain.binding->HasFinalizer(api::kDependenciesFinalizer)) return {};
  if (!api::RecordedDependencies(*chain.binding).empty() || chain.binding->IsDeleting()) return {};
  if (view.Clusters().empty()) return {};  // Nothing has to follow anywhere yet.
  return {{kStep,
           Grade::kWaiting,
           absl::StrCat("the policy of ", chain.Name(),
                        " says propagateDeps, but the dependencies distributor has not looked at "
                        "it: ",
                        chain.needed[0].Describe(), " does not follow"),
           "wait a moment; if it lasts, start karmada-controller-manager with "
           "--feature-gates=PropagateDeps=true",
           "",
           {},
           Program::kControllerManager}};
}

// Returns whether the object is brought to all clusters of the template by a binding of its own.
// One that could not be read may do so.
bool GoesByItself(const Chain& chain, const api::DependentReference& reference) {
  const api::BindingAddress at = api::BindingOf(reference.kind, {reference.ns, reference.name});
  if (!chain.CouldRead(at.resource.gvk, at.key)) return true;
  const kube::Object* own = BindingOf(chain, reference);
  if (own == nullptr) return false;
  const std::set<std::string> clusters = api::BindingView(*own).ExpectedClusters();
  const std::vector<api::TargetCluster> targets = chain.Targets();
  return std::all_of(targets.begin(), targets.end(), [&](const api::TargetCluster& target) {
    return clusters.count(target.name) > 0;
  });
}

Findings DependencyIsElsewhere(const Chain& chain) {
  if (chain.binding == nullptr || !api::BindingView(*chain.binding).PropagateDeps()) return {};
  for (const api::DependentReference& reference : chain.needed) {
    if (!IsElsewhere(chain, reference) || GoesByItself(chain, reference)) continue;
    const bool exists =
        std::find(chain.missing.begin(), chain.missing.end(), reference) == chain.missing.end();
    return {{kStep, Grade::kStuck,
             absl::StrCat(chain.Name(), " needs ", reference.Describe(),
                          ", which is in another namespace and does not follow it"),
             absl::StrCat(exists ? "" : "create it there, and ",
                          "write a policy for it in the namespace ", reference.ns,
                          " that brings it to the same clusters")}};
  }
  return {};
}

Findings DependenciesStayBehind(const Chain& chain) {
  if (chain.binding == nullptr || api::BindingView(*chain.binding).PropagateDeps()) return {};
  std::vector<api::DependentReference> behind;
  for (const api::DependentReference& reference : chain.needed) {
    if (!GoesByItself(chain, reference)) behind.push_back(reference);
  }
  if (behind.empty()) return {};
  return {{kStep, Grade::kNote,
           absl::StrCat(chain.Name(), " needs ", behind[0].Describe(),
                        behind.size() > 1 ? absl::StrCat(" and ", behind.size() - 1, " more") : "",
                        ", and its policy does not take dependencies along"),
           "set propagateDeps: true in the policy, or select them in a policy, too"}};
}

// A workload that moves keeps what it needs in the cluster that it leaves until it has left.
Findings StaysForItsDependents(const Chain& chain) {
  if (chain.binding == nullptr || chain.object == nullptr) return {};
  Findings findings;
  for (const api::BindingSnapshot& by : api::BindingView(*chain.binding).RequiredBy()) {
    const auto found = chain.referrers.find({by.ns, by.name});
    if (found == chain.referrers.end()) continue;
    const api::BindingView referrer(*found->second);
    const std::vector<api::TargetCluster> placed = referrer.Clusters();
    for (const api::TargetCluster& kept : by.clusters) {
      const bool is_placed =
          std::any_of(placed.begin(), placed.end(),
                      [&](const api::TargetCluster& at) { return at.name == kept.name; });
      if (is_placed || !chain.Concerns(kept.name)) continue;
      findings.push_back({kStep,
                          Grade::kWaiting,
                          absl::StrCat(chain.Name(), " stays in ", kept.name, " until ",
                                       referrer.Resource().Describe(),
                                       ", which needs it and is moving away, has left it"),
                          absl::StrCat("nothing, unless it lasts: then ask why about ",
                                       referrer.Resource().Describe()),
                          "",
                          {},
                          Program::kControllerManager});
    }
  }
  return findings;
}

Findings FollowsItsDependents(const Chain& chain) {
  if (chain.binding == nullptr) return {};
  std::vector<std::string> names;
  for (const api::BindingSnapshot& by : api::BindingView(*chain.binding).RequiredBy()) {
    names.push_back(absl::StrCat(by.ns, "/", by.name));
  }
  if (names.empty()) return {};
  return {{kStep, Grade::kNote,
           absl::StrCat(chain.Name(),
                        " follows the bindings that need it: ", absl::StrJoin(names, ", ")),
           ""}};
}

constexpr Check kChecks[] = {
    {"dependencies-unread", "Does the interpreter say what it needs?",
     "what it needs is not known:", DependenciesCannotBeRead},
    {"dependency-missing", "Does everything exist that it needs?",
     "what it needs does not exist:", DependenciesAreMissing},
    {"dependency-refused", "Do members accept what it needs?",
     "$ does not take what it needs:", DependencyIsRefused},
    {"dependencies-omitted", "Does a customization name all that it refers to?",
     "a customization leaves out what it needs:", CustomizationOmitsDependencies},
    {"member-lacks", "Do members have what it needs?",
     "$ does not have what it needs:", MemberLacksWhatItNeeds},
    {"distributor-off", "Does the dependencies distributor run?",
     "what it needs has not been looked at:", DistributorIsOff},
    {"dependency-elsewhere", "Is what it needs in its namespace?",
     "what it needs is in another namespace:", DependencyIsElsewhere},
    {"dependencies-stay", "Does what it needs go along?",
     "what it needs does not go along:", DependenciesStayBehind},
    {"stays-for-dependents", "Do others still need it where they leave?",
     "it stays for others that need it:", StaysForItsDependents},
    {"follows-dependents", "Does it follow others that need it?",
     "it follows others:", FollowsItsDependents},
};

}  // namespace

absl::Span<const Check> DependencyChecks() { return kChecks; }

}  // namespace lens::why
