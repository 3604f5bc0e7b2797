// What many customizations say together.
//
//   auto set = CustomizationSet::Merge(customizations);
//   for (const ScriptRule& rule : set->RulesFor(gvk, Operation::kInterpretHealth)) ...
//
// Sets never change, so any thread may read them. As upstream's declarative configmanager: sorted
// by name, the first script for an operation of a kind that can answer (it compiles, and may define
// the function of the operation) answers alone; for dependencies all do. (Upstream takes the first
// script whatever it is.)
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
  std::string customization;  // Whose.
  // An error is the answer of a script that cannot answer: among the rules of dependencies, or
  // where no customization of that kind and operation has one that does.
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
  // The same for customizations that nobody else keeps.
  static std::shared_ptr<const CustomizationSet> Merge(std::vector<Customization> customizations);

  // Empty when there is none. At most one, except for dependencies: those in the order of names.
  absl::Span<const ScriptRule> RulesFor(const kube::Gvk& gvk, Operation op) const;
  // Every pair that has a rule, sorted.
  std::vector<KindOperation> Covered() const;
  // The problems of each customization that has any, by name. A script that loses to one of another
  // customization is one of them, because that comes first or because this one cannot answer.
  const std::map<std::string, std::vector<Problem>>& problems() const { return problems_; }
  // Returns whether both answer alike, in the same names.
  friend bool operator==(const CustomizationSet& a, const CustomizationSet& b);

  // Number of customizations, unusable ones included.
  size_t size() const { return size_; }

 private:
  using KindRules = std::map<Operation, std::vector<ScriptRule>>;

  CustomizationSet() = default;
  void Add(const Customization& customization);
  // One more script for the same question; at most one of them goes on to answer.
  void Compete(std::vector<ScriptRule>& rules, const ScriptRule& late, const KindOperation& what);

  absl::flat_hash_map<kube::Gvk, KindRules> rules_;
  std::map<std::string, std::vector<Problem>> problems_;
  size_t size_ = 0;
};

// The pairs that the two sets answer differently (another text, one more, one less), sorted: what
// has to be interpreted anew when `after` takes the place of `before`. nullptr is an empty set.
std::vector<KindOperation> ChangedRules(const CustomizationSet* before,
                                        const CustomizationSet* after);

}  // namespace interpreter::customized

#endif  // INTERPRETER_CUSTOMIZED_CUSTOMIZATION_SET_H_
