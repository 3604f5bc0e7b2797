#include "interpreter/customized/customization_set.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"

namespace interpreter::customized {

namespace {

bool SameScript(const ScriptRule& a, const ScriptRule& b) {
  if (a.script.ok() != b.script.ok()) return false;
  return a.script.ok() ? (*a.script)->text() == (*b.script)->text()
                       : a.script.status() == b.script.status();
}

bool SameRule(const ScriptRule& a, const ScriptRule& b) {
  return a.customization == b.customization && SameScript(a, b);
}

bool SameScripts(absl::Span<const ScriptRule> a, absl::Span<const ScriptRule> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), SameScript);
}

}  // namespace

std::shared_ptr<const CustomizationSet> CustomizationSet::Merge(
    std::vector<std::shared_ptr<const Customization>> customizations) {
  std::stable_sort(customizations.begin(), customizations.end(),
                   [](const auto& a, const auto& b) { return a->name < b->name; });
  std::shared_ptr<CustomizationSet> set(new CustomizationSet);
  for (const auto& customization : customizations) set->Add(*customization);
  return set;
}

std::shared_ptr<const CustomizationSet> CustomizationSet::Merge(
    std::vector<Customization> customizations) {
  std::vector<std::shared_ptr<const Customization>> shared;
  shared.reserve(customizations.size());
  for (Customization& customization : customizations) {
    shared.push_back(std::make_shared<const Customization>(std::move(customization)));
  }
  return Merge(std::move(shared));
}

// REQUIRES: customizations come in the order of their names.
void CustomizationSet::Add(const Customization& customization) {
  ++size_;
  if (!customization.problems.empty()) {
    std::vector<Problem>& kept = problems_[customization.name];
    kept.insert(kept.end(), customization.problems.begin(), customization.problems.end());
  }
  if (customization.target.empty()) return;
  for (const auto& [op, script] : customization.scripts) {
    Compete(rules_[customization.target][op], {customization.name, script},
            {customization.target, op});
  }
}

void CustomizationSet::Compete(std::vector<ScriptRule>& rules, const ScriptRule& late,
                               const KindOperation& what) {
  if (rules.empty() || what.operation == Operation::kInterpretDependency) {
    rules.push_back(late);
    return;
  }
  ScriptRule& first = rules.front();
  const bool late_answers = !first.script.ok() && late.script.ok();
  const ScriptRule& loser = late_answers ? first : late;
  problems_[loser.customization].push_back(
      {absl::StrCat("spec.customizations.", ScriptFieldOf(what.operation)->name),
       late_answers ? absl::StrCat("not used, it cannot answer and ", late.customization,
                                   " answers instead for ", what.gvk.ToString())
                    : absl::StrCat("not used, ", first.customization, " comes first for ",
                                   what.gvk.ToString())});
  if (late_answers) first = late;
}

bool operator==(const CustomizationSet& a, const CustomizationSet& b) {
  const std::vector<KindOperation> covered = a.Covered();
  if (covered != b.Covered()) return false;
  return std::all_of(covered.begin(), covered.end(), [&](const KindOperation& pair) {
    const auto in_a = a.RulesFor(pair.gvk, pair.operation);
    const auto in_b = b.RulesFor(pair.gvk, pair.operation);
    return std::equal(in_a.begin(), in_a.end(), in_b.begin(), in_b.end(), SameRule);
  });
}

absl::Span<const ScriptRule> CustomizationSet::RulesFor(const kube::Gvk& gvk, Operation op) const {
  const auto of_kind = rules_.find(gvk);
  if (of_kind == rules_.end()) return {};
  const auto found = of_kind->second.find(op);
  if (found == of_kind->second.end()) return {};
  return found->second;
}

std::vector<KindOperation> CustomizationSet::Covered() const {
  std::vector<KindOperation> covered;
  for (const auto& [gvk, by_operation] : rules_) {
    for (const auto& [op, rules] : by_operation) covered.push_back({gvk, op});
  }
  std::sort(covered.begin(), covered.end());
  return covered;
}

std::vector<KindOperation> ChangedRules(const CustomizationSet* before,
                                        const CustomizationSet* after) {
  std::vector<KindOperation> either;
  for (const CustomizationSet* set : {before, after}) {
    if (set == nullptr) continue;
    const std::vector<KindOperation> covered = set->Covered();
    either.insert(either.end(), covered.begin(), covered.end());
  }
  std::sort(either.begin(), either.end());
  either.erase(std::unique(either.begin(), either.end()), either.end());

  const auto rules = [](const CustomizationSet* set, const KindOperation& pair) {
    return set == nullptr ? absl::Span<const ScriptRule>()
                          : set->RulesFor(pair.gvk, pair.operation);
  };
  std::vector<KindOperation> changed;
  std::copy_if(either.begin(), either.end(), std::back_inserter(changed), [&](const auto& pair) {
    return !SameScripts(rules(before, pair), rules(after, pair));
  });
  return changed;
}

}  // namespace interpreter::customized
