// Merge sorts customizations by name and lets their scripts compete, one after the other, for each
// kind and operation. Without wildcards an entry of rules_ is a kind that some target names. With
// them, entries are made beforehand for every target and for every kind at which two targets with
// wildcards meet (AddMeetings), and each script competes in all entries that its targets cover. So
// the entry that is most exact for a kind has already everything that concerns it, and RulesFor
// needs at most four look-ups: the kind, any version of it, any kind of its version, any kind of
// its group.
//
// A set never changes; a new one replaces it, and ChangedRules says for what this makes a
// difference.

#include "interpreter/customized/customization_set.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"

namespace interpreter::customized {

namespace {

bool SameScript(const ScriptRule& a, const ScriptRule& b) {
  if (a.script.ok() != b.script.ok()) return false;
  // The same pointer first: most scripts of two sets are the same object.
  return a.script.ok() ? *a.script == *b.script || (*a.script)->text() == (*b.script)->text()
                       : a.script.status() == b.script.status();
}

bool SameRule(const ScriptRule& a, const ScriptRule& b) {
  return a.customization == b.customization && SameScript(a, b);
}

bool SameScripts(absl::Span<const ScriptRule> a, absl::Span<const ScriptRule> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), SameScript);
}

constexpr char kAny[] = "*";

// See ScriptRule.
int Generality(const kube::Gvk& target) {
  return (target.version == kAny ? 1 : 0) + (target.kind == kAny ? 2 : 0);
}

// Returns the targets with wildcards that cover a kind if somebody has them, the most exact first.
std::array<kube::Gvk, 3> PatternsOf(const kube::Gvk& gvk) {
  return {kube::Gvk{gvk.group, kAny, gvk.kind}, kube::Gvk{gvk.group, gvk.version, kAny},
          kube::Gvk{gvk.group, kAny, kAny}};
}

// Adds the kinds at which two targets with wildcards meet and neither includes the other: "any
// version of Widget" and "any kind of v1" meet at Widget of v1.
void AddMeetings(std::set<kube::Gvk>& places) {
  std::vector<kube::Gvk> meetings;
  for (const kube::Gvk& of_kind : places) {
    if (of_kind.version != kAny || of_kind.kind == kAny) continue;
    for (const kube::Gvk& of_version : places) {
      if (of_version.group != of_kind.group || of_version.kind != kAny) continue;
      if (of_version.version != kAny) {
        meetings.push_back({of_kind.group, of_version.version, of_kind.kind});
      }
    }
  }
  places.insert(meetings.begin(), meetings.end());
}

bool AnswersBetter(const ScriptRule& a, const ScriptRule& b) {
  return a.script.ok() == b.script.ok() ? a.generality < b.generality : a.script.ok();
}

}  // namespace

std::vector<kube::Gvk> TargetsOf(const Customization& customization, const MergeOptions& options) {
  std::vector<kube::Gvk> targets;
  const auto add = [&](const kube::Gvk& target) {
    if (!target.empty() && std::find(targets.begin(), targets.end(), target) == targets.end()) {
      targets.push_back(target);
    }
  };
  // Wildcards in spec.target mean nothing, as upstream has it.
  if (!options.combined || !HasWildcard(customization.target)) add(customization.target);
  if (!options.combined) return targets;
  for (const kube::Gvk& target : customization.additional_targets) add(target);
  return targets;
}

std::shared_ptr<const CustomizationSet> CustomizationSet::Merge(
    std::vector<std::shared_ptr<const Customization>> customizations, const MergeOptions& options) {
  std::stable_sort(customizations.begin(), customizations.end(),
                   [](const auto& a, const auto& b) { return a->name < b->name; });
  std::shared_ptr<CustomizationSet> set(new CustomizationSet(options));
  std::set<kube::Gvk> places;
  if (options.combined) {
    for (const auto& customization : customizations) {
      for (const kube::Gvk& target : TargetsOf(*customization, options)) {
        places.insert(target);
        if (HasWildcard(target)) set->wildcard_groups_.insert(target.group);
      }
    }
    AddMeetings(places);
  }
  for (const auto& customization : customizations) set->Add(*customization, places);
  return set;
}

std::shared_ptr<const CustomizationSet> CustomizationSet::Merge(
    std::vector<Customization> customizations, const MergeOptions& options) {
  std::vector<std::shared_ptr<const Customization>> shared;
  shared.reserve(customizations.size());
  for (Customization& customization : customizations) {
    shared.push_back(std::make_shared<const Customization>(std::move(customization)));
  }
  return Merge(std::move(shared), options);
}

void CustomizationSet::AddProblems(const Customization& customization) {
  std::vector<Problem> problems = customization.problems;
  if (!options_.combined && !customization.additional_targets.empty()) {
    problems.push_back({"spec.additionalTargets", std::string(kNotCombined)});
  }
  if (problems.empty()) return;
  std::vector<Problem>& kept = problems_[customization.name];
  kept.insert(kept.end(), problems.begin(), problems.end());
}

// REQUIRES: customizations come in the order of their names.
void CustomizationSet::Add(const Customization& customization, const std::set<kube::Gvk>& places) {
  ++size_;
  AddProblems(customization);
  std::map<kube::Gvk, int> covered;  // With the least generality of the targets that cover it.
  for (const kube::Gvk& target : TargetsOf(customization, options_)) {
    const int generality = options_.combined ? Generality(target) : 0;
    if (generality == 0) {
      covered[target] = 0;
      continue;
    }
    for (const kube::Gvk& place : places) {
      if (!Covers(target, place)) continue;
      int& least = covered.try_emplace(place, generality).first->second;
      least = std::min(least, generality);
    }
  }
  for (const auto& [place, generality] : covered) {
    for (const auto& [op, script] : customization.scripts) {
      Compete(rules_[place][op], {customization.name, script, generality}, {place, op});
    }
  }
}

void CustomizationSet::Compete(std::vector<ScriptRule>& rules, const ScriptRule& late,
                               const KindOperation& what) {
  if (rules.empty() || what.operation == Operation::kInterpretDependency) {
    rules.push_back(late);
    return;
  }
  ScriptRule& first = rules.front();
  const bool all_retain = options_.combined && what.operation == Operation::kRetain;
  if (all_retain && first.script.ok() && late.script.ok()) {
    rules.push_back(late);
    return;
  }
  const bool late_wins = AnswersBetter(late, first);
  const ScriptRule& winner = late_wins ? late : first;
  const ScriptRule& loser = late_wins ? first : late;
  // A more exact target that wins is not a problem. A loss is reported once, at the target itself,
  // not at the other places that it covers by wildcards.
  if (loser.generality == (options_.combined ? Generality(what.gvk) : 0)) {
    problems_[loser.customization].push_back(
        {absl::StrCat("spec.customizations.", ScriptFieldOf(what.operation)->name),
         late_wins || (all_retain && winner.script.ok())
             ? absl::StrCat("not used, it cannot answer and ", winner.customization,
                            " answers instead for ", what.gvk.ToString())
             : absl::StrCat("not used, ", winner.customization, " comes first for ",
                            what.gvk.ToString())});
  }
  if (late_wins) first = late;
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
  const KindRules* const of_kind = Find(gvk);
  if (of_kind == nullptr) return {};
  const auto found = of_kind->find(op);
  if (found == of_kind->end()) return {};
  return found->second;
}

const CustomizationSet::KindRules* CustomizationSet::Find(const kube::Gvk& gvk) const {
  const auto own = rules_.find(gvk);
  if (own != rules_.end()) return &own->second;
  // Most kinds are of groups without wildcards, and need one look-up only.
  if (wildcard_groups_.empty() || !wildcard_groups_.contains(gvk.group)) return nullptr;
  for (const kube::Gvk& pattern : PatternsOf(gvk)) {
    const auto found = rules_.find(pattern);
    if (found != rules_.end()) return &found->second;
  }
  return nullptr;
}

std::vector<KindOperation> CustomizationSet::Covered() const {
  std::vector<KindOperation> covered;
  for (const auto& [gvk, by_operation] : rules_) {
    for (const auto& [op, rules] : by_operation) covered.push_back({gvk, op});
  }
  std::sort(covered.begin(), covered.end());
  return covered;
}

bool AnswersDiffer(const CustomizationSet* before, const CustomizationSet* after,
                   const KindOperation& what) {
  const auto rules = [&](const CustomizationSet* set) {
    return set == nullptr ? absl::Span<const ScriptRule>()
                          : set->RulesFor(what.gvk, what.operation);
  };
  return !SameScripts(rules(before), rules(after));
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

  std::vector<KindOperation> changed;
  std::copy_if(either.begin(), either.end(), std::back_inserter(changed),
               [&](const auto& pair) { return AnswersDiffer(before, after, pair); });
  return changed;
}

}  // namespace interpreter::customized
