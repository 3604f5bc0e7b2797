#include "api/policy_claim.h"

#include "api/keys.h"
#include "api/policy_scope.h"

namespace api {

bool IsClaimed(const kube::Object& object) {
  return !policy_scope::Namespaced::ClaimOn(object).name.empty() ||
         !policy_scope::Cluster::ClaimOn(object).name.empty();
}

bool HasPolicyId(const kube::Object& binding) {
  return !binding.Label(kPropagationPolicyIdLabel).empty() ||
         !binding.Label(kClusterPropagationPolicyIdLabel).empty();
}

}  // namespace api
