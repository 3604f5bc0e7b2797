// The rules of many customizations merged into one set.
//
//   auto set = CustomizationSet::Merge(customizations);
//   for (const ScriptRule& rule : set->RulesFor(gvk, Operation::kInterpretHealth)) ...
//
// Sets never change, so any thread may read them. Customizations are sorted by name, as in
// upstream's declarative configmanager. For an operation of a kind, the first script that can
// answer (it compiles, and may define the function of the operation) answers alone; for
// dependencies all scripts answer. (Upstream takes the first script even if it cannot answer.)
//
// Customizations that are combined (MergeOptions) have several targets, which may have wildcards.
// Then the script with the most exact target answers, and the first name among those: a target
// without a wildcard is the most exact one, then come those with any version of a kind, with any
// kind of a version, with any kind of a group. All scripts retain that can answer, one after
// another, in the order of names whatever their targets; each gets the result of the one before as
// the desired object.
#ifndef INTERPRETER_CUSTOMIZED_CUSTOMIZATION_SET_H_
#define INTERPRETER_CUSTOMIZED_CUSTOMIZATION_SET_H_

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "interpreter/customized/customization.h"
#include "interpreter/interpreter.h"
#include "kube/meta/names.h"

namespace interpreter::customized {

// One script that answers for a kind and an operation.
struct ScriptRule {
  std::string customization;  // The name of the customization that the script is from.
  // An error when the script cannot answer. Only rules of dependencies, and the rule of a kind and
  // operation for which no customization has a script that can answer, are errors.
  CompiledScript script;
  int generality = 0;  // Of the target; 0: it names the kind. The script with the least answers.
};

struct MergeOptions {
  // The feature gate CombinedCustomizations. False: additional targets do not count, which is a
  // problem of each customization that has some, and one script alone retains.
  bool combined = false;
};
// The problem of a customization whose additional targets do not count.
inline constexpr absl::string_view kNotCombined =
    "has no effect without the feature gate CombinedCustomizations";

// Returns the targets of a customization that count, none twice.
std::vector<kube::Gvk> TargetsOf(const Customization& customization, const MergeOptions& options);

// A kind, or when customizations are combined all kinds that a target with wildcards covers.
struct KindOperation {
  kube::Gvk gvk;
  Operation operation;
  friend auto operator<=>(const KindOperation&, const KindOperation&) = default;
};

class CustomizationSet {
 public:
  // Makes one set of customizations in any order. nullptr is not allowed.
  static std::shared_ptr<const CustomizationSet> Merge(
      std::vector<std::shared_ptr<const Customization>> customizations,
      const MergeOptions& options = {});
  // As above; no other code keeps these customizations.
  static std::shared_ptr<const CustomizationSet> Merge(std::vector<Customization> customizations,
                                                       const MergeOptions& options = {});

  // Returns an empty list when there is no rule, one rule for most operations, and for dependencies
  // (when customizations are combined, also for retention) all rules in the order of the
  // customizations' names. For a kind with wildcards, as Covered() returns them, it is the rules of
  // the kinds it stands for that have none of their own.
  absl::Span<const ScriptRule> RulesFor(const kube::Gvk& gvk, Operation op) const;
  // Returns every pair that has a rule, sorted; kinds with wildcards stand for many.
  std::vector<KindOperation> Covered() const;
  // The problems of each customization that has any, by name. They include each script that is not
  // used because another customization comes first, or because it cannot answer and another one
  // can.
  const std::map<std::string, std::vector<Problem>>& problems() const { return problems_; }
  // Returns whether both sets give the same answers under the same names.
  friend bool operator==(const CustomizationSet& a, const CustomizationSet& b);

  // Number of customizations, unusable ones included.
  size_t size() const { return size_; }

 private:
  using KindRules = std::map<Operation, std::vector<ScriptRule>>;

  explicit CustomizationSet(const MergeOptions& options) : options_(options) {}
  // `places` are all kinds, with and without wildcards, that get an entry in rules_.
  void Add(const Customization& customization, const std::set<kube::Gvk>& places);
  void AddProblems(const Customization& customization);
  // Adds a script for a kind and operation. Only the better one of it and an earlier one is kept,
  // except where all answer.
  void Compete(std::vector<ScriptRule>& rules, const ScriptRule& late, const KindOperation& what);
  // Returns nullptr when there is no rule for the kind.
  const KindRules* Find(const kube::Gvk& gvk) const;

  const MergeOptions options_;
  // The entry of a kind has the rules of all targets that cover it, so that one entry answers.
  absl::flat_hash_map<kube::Gvk, KindRules> rules_;
  absl::flat_hash_set<std::string> wildcard_groups_;  // Groups of targets with wildcards.
  std::map<std::string, std::vector<Problem>> problems_;
  size_t size_ = 0;
};

// Returns the pairs that the two sets answer differently (a script was changed, added or removed),
// sorted: they have to be interpreted again when `after` replaces `before`. nullptr stands for an
// empty set.
std::vector<KindOperation> ChangedRules(const CustomizationSet* before,
                                        const CustomizationSet* after);
// Returns whether the two sets answer differently for a kind and an operation.
bool AnswersDiffer(const CustomizationSet* before, const CustomizationSet* after,
                   const KindOperation& what);

}  // namespace interpreter::customized

#endif  // INTERPRETER_CUSTOMIZED_CUSTOMIZATION_SET_H_
