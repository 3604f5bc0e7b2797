#include "controllers/dependencies/demands.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/binding.h"
#include "api/reasons.h"

namespace controllers {
namespace {

// Those who demand something, and those who do not.
struct Camps {
  std::vector<std::string> with, without;

  void Add(bool demands, const kube::ObjectKey& referrer) {
    (demands ? with : without).push_back(referrer.ToString());
  }
  bool Differ() const { return !with.empty() && !without.empty(); }
};

// Returns "a, b, c and 4 more".
std::string Some(const std::vector<std::string>& names) {
  constexpr size_t kShown = 3;
  const size_t shown = std::min(kShown, names.size());
  const std::string text = absl::StrJoin(names.begin(), names.begin() + shown, ", ");
  const size_t left = names.size() - shown;
  return left == 0 ? text : absl::StrCat(text, " and ", left, " more");
}

// Returns upstream's text, followed by who demands what, and what counts.
std::string ConflictText(const Camps& overwriting, const Camps& preserving) {
  std::string text =
      api::message::DependencyPolicyConflict(overwriting.Differ(), preserving.Differ());
  if (overwriting.Differ()) {
    absl::StrAppend(&text, " Overwrite is demanded by ", Some(overwriting.with), ", Abort by ",
                    Some(overwriting.without), "; Overwrite counts.");
  }
  if (preserving.Differ()) {
    absl::StrAppend(&text, " Preservation is demanded by ", Some(preserving.with), ", deletion by ",
                    Some(preserving.without), "; preservation counts.");
  }
  return text;
}

}  // namespace

Demands DemandsOf(const kube::Object& binding) {
  const api::BindingView view(binding);
  return {view.ConflictResolution() == api::kResolveOverwrite,
          view.PreserveResourcesOnDeletion().value_or(false)};
}

std::string FollowDemands(const FindBinding& find, kube::Object& attached) {
  Camps overwriting, preserving;
  Demands awaited;
  for (const api::BindingSnapshot& referrer : api::BindingView(attached).RequiredBy()) {
    const kube::ObjectKey key{referrer.ns, referrer.name};
    const kube::ObjectPtr binding = find(key);
    if (binding == nullptr) {
      awaited = DemandsOf(attached);
      continue;
    }
    const Demands demands = DemandsOf(*binding);
    overwriting.Add(demands.overwrite, key);
    preserving.Add(demands.preserve, key);
  }
  // A policy that placed the binding determines this.
  if (!attached.spec()["placement"].is_null()) return "";
  if (attached.spec()["requiredBy"].empty()) {
    attached.Erase({"spec", "conflictResolution"});
    attached.Erase({"spec", "preserveResourcesOnDeletion"});
    return "";
  }
  const bool overwrite = awaited.overwrite || !overwriting.with.empty();
  attached.Set({"spec", "conflictResolution"},
               overwrite ? api::kResolveOverwrite : api::kResolveAbort);
  attached.Set({"spec", "preserveResourcesOnDeletion"},
               awaited.preserve || !preserving.with.empty());
  if (!overwriting.Differ() && !preserving.Differ()) return "";
  return ConflictText(overwriting, preserving);
}

}  // namespace controllers
