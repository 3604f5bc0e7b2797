// How to find out whether a policy governs a template or a binding.
#ifndef API_POLICY_CLAIM_H_
#define API_POLICY_CLAIM_H_

#include "kube/meta/object.h"

namespace api {

// Returns whether annotations of the template or binding name the policy that has claimed it, of
// either scope.
bool IsClaimed(const kube::Object& object);

// Returns whether the binding has the label of a policy, of either scope: by it schedulers decide
// whether a binding concerns them (upstream's resourceBindingEventFilter).
bool HasPolicyId(const kube::Object& binding);

}  // namespace api

#endif  // API_POLICY_CLAIM_H_
