// Which hook answers a question, and why the others do not: for people who write configurations.
#ifndef INTERPRETER_WEBHOOK_EXPLANATION_H_
#define INTERPRETER_WEBHOOK_EXPLANATION_H_

#include <string>
#include <vector>

#include "interpreter/webhook/hook_set.h"

namespace interpreter::webhook {

// What a hook says to an operation on a kind.
struct HookVerdict {
  const Hook* hook;    // The set's.
  std::string reason;  // Why it is not asked; "" for the one that is.
};

// Every hook of the set in its order; at most one is asked, HookSet::Find()'s. Reasons are parts of
// a sentence, in the names of the hook's dialect: "it is asked for ExplorePacking only".
std::vector<HookVerdict> Explain(const HookSet& hooks, const kube::Gvk& gvk, Operation op);

// The pattern for people: "apps/v1 {Deployment,StatefulSet}", "example.io/* widgets (scope
// Cluster)". The core group alone is left out, as in an apiVersion; beside others it is "".
std::string KindPatternText(const KindPattern& pattern);

}  // namespace interpreter::webhook

#endif  // INTERPRETER_WEBHOOK_EXPLANATION_H_
