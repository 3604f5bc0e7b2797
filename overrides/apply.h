// Applies override policies to one object for one cluster: a pure function.
#ifndef OVERRIDES_APPLY_H_
#define OVERRIDES_APPLY_H_

#include <vector>

#include "absl/status/status.h"
#include "api/cluster.h"
#include "kube/meta/object.h"
#include "overrides/policy.h"

namespace overrides {

struct AppliedRule {
  PolicyPtr policy;
  const Rule* rule = nullptr;  // Belongs to the policy.
};

struct Application {
  // The error of the first rule that failed; it names the field in the policy. It is terminal when
  // nothing but a change of the object or of policies can repair it: they are too much work, or
  // their record is too long for the annotation of a Work.
  absl::Status status;
  PolicyPtr failed;     // The policy of that rule; nullptr when there is no error.
  kube::Object object;  // The overridden object. After an error it is of no use.
  // The rules that were applied, in their order.
  std::vector<AppliedRule> of_cluster_policies;
  std::vector<AppliedRule> of_policies;
};

// Applies the policies that select the object, with their rules for the cluster: first the
// ClusterOverridePolicies, then the OverridePolicies of its namespace. In each of the two groups
// the policies are selected before any of them is applied; less specific ones come first, and among
// equally specific ones the smaller name (upstream's ApplyOverridePolicies and
// getOverridersFromOverridePolicies). A rule after which the object has another group, kind,
// namespace or name than `object` is an error; upstream lets it pass. Before a rule of a group is
// applied, it is determined whether all that is to be applied can be recorded in a Work at all, and
// all rules of all policies have one budget of work for the object and cluster.
Application Apply(const Policies& policies, const kube::Object& object,
                  const api::ClusterView& cluster);

}  // namespace overrides

#endif  // OVERRIDES_APPLY_H_
