// All hooks of a control plane at one moment; finds the one that answers a question.
#ifndef INTERPRETER_WEBHOOK_HOOK_SET_H_
#define INTERPRETER_WEBHOOK_HOOK_SET_H_

#include <array>
#include <vector>

#include "interpreter/webhook/hook.h"

namespace interpreter::webhook {

// Immutable. A changed configuration makes a new set.
class HookSet {
 public:
  // `hooks` are those of all configurations of both kinds. `lookup` may be empty: then no kind is
  // known.
  explicit HookSet(std::vector<Hook> hooks, ResourceLookup lookup = nullptr);
  HookSet(const HookSet&) = delete;

  // Returns the one hook that answers: among those with a matching rule, the one with the smallest
  // uid in byte order (of two configurations with the same names, the interpreter's). nullptr when
  // none matches. It lives as long as this set.
  const Hook* Find(const kube::Gvk& gvk, Operation op) const;

  const std::vector<Hook>& hooks() const { return hooks_; }  // Sorted by uid.
  const ResourceLookup& lookup() const { return lookup_; }   // May be empty.

 private:
  struct Candidate {
    const Hook* hook;
    const KindPattern* kinds;
  };

  const ResourceLookup lookup_;
  std::vector<Hook> hooks_;
  // Indexed by operation, so that frequent questions only look at rules of their operation.
  std::array<std::vector<Candidate>, std::size(kAllOperations)> candidates_;
};

// Kinds for which an operation may be answered differently than before.
struct RuleDifference {
  KindPattern kinds;
  Operation operation;
  friend bool operator==(const RuleDifference&, const RuleDifference&) = default;
};
// Returns the rules of every hook that only one of the sets has, or that answers differently
// (AnswerAlike), with each pair of pattern and operation once. A rule may match a kind whose answer
// stays the same because a hook with a smaller uid answers; compare *before.Find() with
// *after.Find() to find that out.
std::vector<RuleDifference> DifferencesBetween(const HookSet& before, const HookSet& after);

}  // namespace interpreter::webhook

#endif  // INTERPRETER_WEBHOOK_HOOK_SET_H_
