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
  std::vector<Problem> problems = customization.problems;
  for (const auto& [op, script] : customization.scripts) {
    if (customization.target.empty()) break;
    std::vector<ScriptRule>& rules = rules_[customization.target][op];
    if (!rules.empty() && op != Operation::kInterpretDependency) {
      problems.push_back({absl::StrCat("spec.customizations.", ScriptFieldOf(op)->name),
                          absl::StrCat("not used, ", rules.front().customization,
                                       " comes first for ", customization.target.ToString())});
      continue;
    }
    rules.push_back({customization.name, script});
  }
  if (problems.empty()) return;
  std::vector<Problem>& kept = problems_[customization.name];
  std::move(problems.begin(), problems.end(), std::back_inserter(kept));
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
