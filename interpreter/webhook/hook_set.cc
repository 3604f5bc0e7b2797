#include "interpreter/webhook/hook_set.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace interpreter::webhook {

namespace {

// What identifies a hook across sets: uid and dialect.
using Identity = std::pair<absl::string_view, Dialect>;
Identity IdentityOf(const Hook& hook) { return {hook.uid, hook.dialect}; }

bool HasAlike(const std::map<Identity, const Hook*>& hooks, const Hook& wanted) {
  const auto it = hooks.find(IdentityOf(wanted));
  return it != hooks.end() && AnswerAlike(*it->second, wanted);
}

std::map<Identity, const Hook*> ByIdentity(const HookSet& set) {
  std::map<Identity, const Hook*> hooks;
  for (const Hook& hook : set.hooks()) hooks.emplace(IdentityOf(hook), &hook);
  return hooks;
}

void AddRules(const Hook& hook, std::vector<RuleDifference>& differences) {
  for (const Rule& rule : hook.rules) {
    for (const Operation op : rule.operations) {
      RuleDifference difference{rule.kinds, op};
      if (std::find(differences.begin(), differences.end(), difference) == differences.end()) {
        differences.push_back(std::move(difference));
      }
    }
  }
}

}  // namespace

HookSet::HookSet(std::vector<Hook> hooks, ResourceLookup lookup)
    : lookup_(std::move(lookup)), hooks_(std::move(hooks)) {
  std::stable_sort(hooks_.begin(), hooks_.end(),
                   [](const Hook& a, const Hook& b) { return IdentityOf(a) < IdentityOf(b); });
  for (const Hook& hook : hooks_) {
    for (const Rule& rule : hook.rules) {
      for (const Operation op : rule.operations) {
        // Pointers into hooks_, which does not change any more.
        candidates_[static_cast<size_t>(op)].push_back({&hook, &rule.kinds});
      }
    }
  }
}

const Hook* HookSet::Find(const kube::Gvk& gvk, Operation op) const {
  for (const Candidate& candidate : candidates_[static_cast<size_t>(op)]) {
    // The first in the order of the uids wins.
    if (candidate.kinds->Matches(gvk, lookup_)) return candidate.hook;
  }
  return nullptr;
}

std::vector<RuleDifference> DifferencesBetween(const HookSet& before, const HookSet& after) {
  std::vector<RuleDifference> differences;
  const auto old_hooks = ByIdentity(before), new_hooks = ByIdentity(after);
  for (const Hook& hook : before.hooks()) {
    if (!HasAlike(new_hooks, hook)) AddRules(hook, differences);
  }
  for (const Hook& hook : after.hooks()) {
    if (!HasAlike(old_hooks, hook)) AddRules(hook, differences);
  }
  return differences;
}

}  // namespace interpreter::webhook
