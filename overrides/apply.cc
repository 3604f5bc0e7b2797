#include "overrides/apply.h"

#include <algorithm>
#include <utility>

#include "overrides/internal/overriders.h"

namespace overrides {
namespace {

std::vector<AppliedRule> SelectedRules(const std::vector<PolicyPtr>& policies,
                                       const kube::Object& object,
                                       const api::ClusterView& cluster) {
  std::vector<std::pair<api::SelectorMatch, PolicyPtr>> selected;
  for (const PolicyPtr& policy : policies) {
    const api::SelectorMatch rank = policy->Rank(object);
    if (rank != api::SelectorMatch::kNone) selected.emplace_back(rank, policy);
  }
  std::sort(selected.begin(), selected.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second->name() < b.second->name();
  });
  std::vector<AppliedRule> rules;
  for (const auto& [rank, policy] : selected) {
    for (const Rule& rule : policy->rules()) {
      if (rule.AppliesTo(cluster)) rules.push_back({policy, &rule});
    }
  }
  return rules;
}

// Applies the rules in their order. Returns false after an error, which is in `result`.
bool ApplyRules(const std::vector<AppliedRule>& rules, Draft& draft, Application& result) {
  for (const AppliedRule& applied : rules) {
    result.status = ApplyOverriders(applied.rule->overriders, applied.rule->field, draft);
    if (result.status.ok()) continue;
    result.failed = applied.policy;
    return false;
  }
  result.object = kube::Object(draft.root);
  return true;
}

}  // namespace

Application Apply(const Policies& policies, const kube::Object& object,
                  const api::ClusterView& cluster) {
  Application result;
  Draft draft = {object.root()};
  result.of_cluster_policies = SelectedRules(policies.cluster_wide, object, cluster);
  if (!ApplyRules(result.of_cluster_policies, draft, result)) return result;
  result.of_policies = SelectedRules(policies.of_namespace, result.object, cluster);
  ApplyRules(result.of_policies, draft, result);
  return result;
}

}  // namespace overrides
