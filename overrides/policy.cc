#include "overrides/policy.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/resources.h"

namespace overrides {
namespace {

Rule RuleOf(const json::Value& parent, std::string field) {
  Rule rule;
  if (const json::Value& target = parent["targetCluster"]; !target.is_null()) {
    rule.target = api::ClusterAffinity::FromJson(target);
  }
  rule.overriders = parent["overriders"];
  rule.field = std::move(field);
  return rule;
}

std::vector<Rule> RulesOf(const json::Value& spec) {
  std::vector<Rule> rules;
  for (const json::Value& item : spec["overrideRules"].items()) {
    rules.push_back(
        RuleOf(item, absl::StrCat("spec.overrideRules[", rules.size(), "].overriders")));
  }
  if (rules.empty()) rules.push_back(RuleOf(spec, "spec.overriders"));
  return rules;
}

}  // namespace

Policy::Policy(kube::ObjectPtr object)
    : object_(std::move(object)),
      selectors_(std::make_shared<const api::PolicySelectors>(*object_)),
      rules_(RulesOf(object_->spec())) {}

api::SelectorMatch Policy::Rank(const kube::Object& object) const {
  return selectors_->list().empty() ? api::SelectorMatch::kAll : selectors_->Match(object);
}

bool Policy::MaySelect(const api::ObjectReference& object) const {
  return selectors_->list().empty() || selectors_->MaySelect(object);
}

bool Follows(const kube::Object& policy, const kube::Object* before, const kube::Object& after) {
  const auto follows = [&](const json::Value& rule) {
    const json::Value& target = rule["targetCluster"];
    if (target.is_null()) return false;
    if (before == nullptr) return true;
    const api::ClusterAffinity affinity = api::ClusterAffinity::FromJson(target);
    return affinity.Matches(api::ClusterView(*before)) != affinity.Matches(api::ClusterView(after));
  };
  const json::Value& rules = policy.spec()["overrideRules"];
  if (rules.empty()) return follows(policy.spec());
  return std::any_of(rules.items().begin(), rules.items().end(), follows);
}

Policies ParsedPolicies::For(absl::string_view ns) {
  Policies policies;
  policies.cluster_wide = Parsed(client_.List(api::ClusterOverridePolicies()));
  if (!ns.empty()) policies.of_namespace = Parsed(client_.List(api::OverridePolicies(), ns));
  return policies;
}

std::vector<PolicyPtr> ParsedPolicies::Parsed(const std::vector<kube::ObjectPtr>& objects) {
  std::vector<PolicyPtr> policies;
  if (objects.empty()) return policies;
  policies.reserve(objects.size());
  const absl::MutexLock lock(&mu_);
  for (const kube::ObjectPtr& object : objects) {
    PolicyPtr& policy = parsed_[object.get()];
    if (policy == nullptr) policy = std::make_shared<const Policy>(object);
    policies.push_back(policy);
  }
  if (parsed_.size() >= sweep_at_) DropStale();
  return policies;
}

void ParsedPolicies::DropStale() {
  absl::erase_if(parsed_, [](const auto& entry) {
    const PolicyPtr& policy = entry.second;
    return policy.use_count() == 1 && policy->IsStale();
  });
  sweep_at_ = 2 * parsed_.size() + 64;
}

}  // namespace overrides
