// The rules of many customizations merged into one set.
//
//   auto set = CustomizationSet::Merge(customizations);
//   for (const ScriptRule& rule : set->RulesFor(gvk, Operation::kInterpretHealth)) ...
//
// Sets never change, so any thread may read them. Customizations are sorted by name, as in
// upstream's declarative configmanager. For an operation of a kind, the first script that can
// answer (it compiles, and may define the function of the operation) answers alone; for
// dependencies all scripts answer. (Upstream takes the first script even if it cannot answer.)
#ifndef INTERPRETER_CUSTOMIZED_CUSTOMIZATION_SET_H_
#define INTERPRETER_CUSTOMIZED_CUSTOMIZATION_SET_H_

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
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
};

struct KindOperation {
  kube::Gvk gvk;
  Operation operation;
  friend auto operator<=>(const KindOperation&, const KindOperation&) = default;
};

class CustomizationSet {
 public:
  // Makes one set of customizations in any order. nullptr is not allowed.
  static std::shared_ptr<const CustomizationSet> Merge(
      std::vector<std::shared_ptr<const Customization>> customizations);
  // As above; no other code keeps these customizations.
  static std::shared_ptr<const CustomizationSet> Merge(std::vector<Customization> customizations);

  // Returns an empty list when there is no rule, one rule for most operations, and for dependencies
  // all rules in the order of the customizations' names.
  absl::Span<const ScriptRule> RulesFor(const kube::Gvk& gvk, Operation op) const;
  // Returns every pair that has a rule, sorted.
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

  CustomizationSet() = default;
  void Add(const Customization& customization);
  // Adds a script for a kind and operation. Except for dependencies, only the better one of it and
  // an earlier one is kept.
  void Compete(std::vector<ScriptRule>& rules, const ScriptRule& late, const KindOperation& what);

  absl::flat_hash_map<kube::Gvk, KindRules> rules_;
  std::map<std::string, std::vector<Problem>> problems_;
  size_t size_ = 0;
};

// Returns the pairs that the two sets answer differently (a script was changed, added or removed),
// sorted: they have to be interpreted again when `after` replaces `before`. nullptr stands for an
// empty set.
std::vector<KindOperation> ChangedRules(const CustomizationSet* before,
                                        const CustomizationSet* after);

}  // namespace interpreter::customized

#endif  // INTERPRETER_CUSTOMIZED_CUSTOMIZATION_SET_H_
