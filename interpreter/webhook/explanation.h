// Explains which hook answers a question, and why the others do not, to authors of configurations.
#ifndef INTERPRETER_WEBHOOK_EXPLANATION_H_
#define INTERPRETER_WEBHOOK_EXPLANATION_H_

#include <string>
#include <vector>

#include "interpreter/webhook/hook_set.h"

namespace interpreter::webhook {

// Whether a hook is asked for an operation on a kind, and why not.
struct HookVerdict {
  const Hook* hook;    // Belongs to the set.
  std::string reason;  // Why it is not asked; "" for the one that is.
};

// Returns a verdict for every hook of the set in its order; at most one is asked,
// HookSet::Find()'s. Reasons are parts of a sentence, in the names of the hook's dialect: "it is
// asked for ExplorePacking only".
std::vector<HookVerdict> Explain(const HookSet& hooks, const kube::Gvk& gvk, Operation op);

// Returns the pattern in readable form: "apps/v1 {Deployment,StatefulSet}", "example.io/* widgets
// (scope Cluster)". The core group is left out when it is the only group, as in an apiVersion;
// beside other groups it is "".
std::string KindPatternText(const KindPattern& pattern);

}  // namespace interpreter::webhook

#endif  // INTERPRETER_WEBHOOK_EXPLANATION_H_
