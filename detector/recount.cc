#include "detector/recount.h"

#include "api/binding.h"
#include "detector/request_reason.h"
#include "interpreter/rule_changes.h"

namespace detector {

void RequeueUncounted(const interpreter::Interpreter& interpreter, const WaitingSet& uncounted,
                      kube::WorkQueue& templates) {
  interpreter.rule_changes().Subscribe([&](const interpreter::RuleChange& change) {
    for (const kube::Gvk& gvk : uncounted.Kinds()) {
      if (!change(gvk, interpreter::Operation::kInterpretReplica) &&
          !change(gvk, interpreter::Operation::kInterpretComponent)) {
        continue;
      }
      for (const kube::Request& request : uncounted.Matching(gvk, "", "")) templates.Add(request);
    }
  });
}

kube::Request RecountRequest(const kube::Object& binding, const PolicyIndex& policies,
                             const PolicyIndex& cluster_policies) {
  const api::ObjectReference reference = api::BindingView(binding).Resource();
  kube::Request request{.key = reference.key(), .gvk = reference.gvk()};
  if (IsLazilyClaimed(binding, policies, cluster_policies)) request.reason = kNotByAnEdit;
  return request;
}

}  // namespace detector
