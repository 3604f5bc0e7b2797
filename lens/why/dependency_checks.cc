// Checks of what the template needs, and of those that need it.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/binding.h"
#include "api/keys.h"
#include "api/reasons.h"
#include "lens/why/checks.h"

namespace lens::why {
namespace {

constexpr Step kStep = Step::kDependencies;

Findings DependenciesAreMissing(const Chain& chain) {
  if (chain.binding == nullptr || chain.missing.empty()) return {};
  std::vector<std::string> names;
  for (const api::DependentReference& reference : chain.missing) {
    if (!chain.CouldRead(reference.gvk(), {reference.ns, reference.name})) continue;
    names.push_back(reference.Describe());
  }
  if (names.empty()) return {};
  return {{kStep, Grade::kStuck,
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

// The distributor leaves its finalizer on each binding that propagates dependencies.
Findings DistributorIsOff(const Chain& chain) {
  if (chain.binding == nullptr || chain.needed.empty()) return {};
  const api::BindingView view(*chain.binding);
  if (!view.PropagateDeps() || chain.binding->HasFinalizer(api::kDependenciesFinalizer)) return {};
  if (!api::RecordedDependencies(*chain.binding).empty() || chain.binding->IsDeleting()) return {};
  return {{kStep,
           Grade::kStuck,
           absl::StrCat("the policy of ", chain.Name(),
                        " says propagateDeps, but the dependencies "
                        "distributor does not run: ",
                        chain.needed[0].Describe(), " does not follow"),
           "start karmada-controller-manager with --feature-gates=PropagateDeps=true",
           "",
           {},
           Program::kNone}};
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
