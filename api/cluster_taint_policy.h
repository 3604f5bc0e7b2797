// ClusterTaintPolicy (policy.karmada.io/v1alpha1): taints that clusters get, and lose, when their
// conditions match.
#ifndef API_CLUSTER_TAINT_POLICY_H_
#define API_CLUSTER_TAINT_POLICY_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "api/cluster.h"
#include "base/json.h"
#include "kube/meta/object.h"

namespace api {

// Reads one ClusterTaintPolicy. The object must outlive the view and stay unchanged.
class ClusterTaintPolicyView {
 public:
  explicit ClusterTaintPolicyView(const kube::Object& object) : object_(object) {}
  explicit ClusterTaintPolicyView(kube::Object&&) = delete;

  // Returns whether spec.targetClusters selects the cluster; without that field every cluster is
  // selected.
  bool Targets(const ClusterView& cluster) const;
  // Returns spec.taints, without timeAdded.
  std::vector<Taint> Taints() const;
  // Returns whether the conditions of the cluster match spec.addOnConditions, or
  // spec.removeOnConditions. All items have to match; an empty list never does, nor does an item
  // about a condition that the cluster does not have.
  bool AddsOn(const ClusterView& cluster) const;
  bool RemovesOn(const ClusterView& cluster) const;
  // kInvalidArgument when an item of these lists has an operator other than In and NotIn: such an
  // item never matches.
  absl::Status CheckOperators() const;

 private:
  const json::Value& spec() const { return object_.spec(); }

  const kube::Object& object_;
};

}  // namespace api

#endif  // API_CLUSTER_TAINT_POLICY_H_
