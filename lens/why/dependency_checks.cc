// Checks of what the template needs, and of those that need it.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/binding.h"
#include "api/keys.h"
#include "api/reasons.h"
#include "api/work.h"
#include "lens/why/checks.h"

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

// Returns whether the template does without the object: each of its references says optional.
bool IsOptional(const Chain& chain, const api::DependentReference& reference) {
  if (chain.object == nullptr) return false;
  Mentions mentions;
  AddMentions(chain.object->spec(), reference, mentions);
  return mentions.any && !mentions.required;
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

Findings DependenciesAreMissing(const Chain& chain) {
  if (chain.binding == nullptr || chain.missing.empty()) return {};
  std::vector<std::string> names;
  for (const api::DependentReference& reference : chain.missing) {
    if (!chain.CouldRead(reference.gvk(), {reference.ns, reference.name})) continue;
    if (IsOptional(chain, reference)) continue;
    names.push_back(reference.Describe());
  }
  if (names.empty()) return {};
  // A member may have it from elsewhere, and what has come up does not need it.
  const bool held_up = api::BindingView(*chain.binding).PropagateDeps() && SomeTargetFails(chain);
  return {{kStep, held_up ? Grade::kStuck : Grade::kNote,
           absl::StrCat(chain.Name(), " needs ", absl::StrJoin(names, ", "), ", which ",
                        names.size() == 1 ? "does" : "do", " not exist in the control plane"),
           "create it there; it then follows by itself if the policy says propagateDeps"}};
}

Findings DependenciesCannotBeRead(const Chain& chain) {
  if (chain.object == nullptr) return {};
  const std::string failed =
      StandingFailure(chain, *chain.object, api::reason::kGetDependenciesFailed,
                      api::reason::kGetDependenciesSucceed);
  if (failed.empty()) return {};
  return {{kStep, Grade::kStuck,
           absl::StrCat("the interpreter cannot determine what ", chain.Name(), " needs: ", failed),
           "mend the customization or the webhook that the message names"}};
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

Findings DependenciesStayBehind(const Chain& chain) {
  if (chain.binding == nullptr || chain.needed.empty()) return {};
  if (api::BindingView(*chain.binding).PropagateDeps()) return {};
  return {
      {kStep, Grade::kNote,
       absl::StrCat(
           chain.Name(), " needs ", chain.needed[0].Describe(),
           chain.needed.size() > 1 ? absl::StrCat(" and ", chain.needed.size() - 1, " more") : "",
           ", and its policy does not take dependencies along"),
       "set propagateDeps: true in the policy, unless they have policies of their own"}};
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
    {"dependencies-unread", "Does the interpreter say what it needs?", DependenciesCannotBeRead},
    {"dependency-missing", "Does everything exist that it needs?", DependenciesAreMissing},
    {"distributor-off", "Does the dependencies distributor run?", DistributorIsOff},
    {"dependencies-stay", "Does what it needs go along?", DependenciesStayBehind},
    {"follows-dependents", "Does it follow others that need it?", FollowsItsDependents},
};

}  // namespace

absl::Span<const Check> DependencyChecks() { return kChecks; }

}  // namespace lens::why
