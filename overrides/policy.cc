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

bool MaySelectBy(const api::ResourceSelector& selector, const api::ObjectReference& object) {
  return selector.api_version() == object.api_version && selector.kind() == object.kind &&
         (selector.ns().empty() || selector.ns() == object.ns) &&
         (selector.name().empty() || selector.name() == object.name);
}

}  // namespace

Policy::Policy(kube::ObjectPtr object)
    : object_(std::move(object)),
      selectors_(api::ResourceSelector::ListFromJson(object_->spec()["resourceSelectors"])),
      rules_(RulesOf(object_->spec())) {}

api::SelectorMatch Policy::Rank(const kube::Object& object) const {
  return selectors_.empty() ? api::SelectorMatch::kAll : api::BestMatch(selectors_, object);
}

bool Policy::MaySelect(const api::ObjectReference& object) const {
  return selectors_.empty() || std::any_of(selectors_.begin(), selectors_.end(),
                                           [&](const api::ResourceSelector& selector) {
                                             return MaySelectBy(selector, object);
                                           });
}

bool Policy::Follows(const kube::Object* before, const kube::Object& after) const {
  return std::any_of(rules_.begin(), rules_.end(), [&](const Rule& rule) {
    if (!rule.target.has_value()) return false;
    return before == nullptr ||
           rule.AppliesTo(api::ClusterView(*before)) != rule.AppliesTo(api::ClusterView(after));
  });
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
