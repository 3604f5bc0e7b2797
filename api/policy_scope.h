// What differs between PropagationPolicy and ClusterPropagationPolicy: the claim a policy leaves on
// the templates and bindings it governs. Loops over policies are templates over PolicyScope.
#ifndef API_POLICY_SCOPE_H_
#define API_POLICY_SCOPE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "api/keys.h"
#include "api/resources.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace api::policy_scope {

// Keys are references to the constants because GCC 12 with UBSan refuses a constexpr string_view of
// an inline constant.

// PropagationPolicy: governs templates of its own namespace.
struct Namespaced {
  static constexpr bool kNamespaced = true;
  static constexpr absl::string_view kKind = "PropagationPolicy";
  static constexpr const auto& kFinalizer = kPropagationPolicyFinalizer;
  // The label that the admission webhook sets on the policy; templates and bindings get a copy.
  static constexpr const auto& kIdLabel = kPropagationPolicyIdLabel;
  // The reconciler's async queue, as in the label of workqueue metrics.
  static constexpr absl::string_view kQueue = "propagationPolicy reconciler";

  static const kube::Resource& Policies() { return PropagationPolicies(); }
  // Returns the policy that claims `object`; its name is "" unless the id label and all naming
  // annotations are there.
  static kube::ObjectKey ClaimOn(const kube::Object& object);
  // Puts the claim of `policy` on `object` (id label and naming annotations). Returns whether
  // anything changed.
  static bool Claim(const kube::Object& policy, kube::Object& object);
  // Removes any claim of this scope. Returns whether anything changed.
  static bool Unclaim(kube::Object& object);
  // Returns "policy(ns/name)", as in event messages.
  static std::string Describe(const kube::ObjectKey& policy);
};

// ClusterPropagationPolicy: governs templates of every namespace and cluster-scoped ones.
struct Cluster {
  static constexpr bool kNamespaced = false;
  static constexpr absl::string_view kKind = "ClusterPropagationPolicy";
  static constexpr const auto& kFinalizer = kClusterPropagationPolicyFinalizer;
  static constexpr const auto& kIdLabel = kClusterPropagationPolicyIdLabel;
  static constexpr absl::string_view kQueue = "clusterPropagationPolicy reconciler";

  static const kube::Resource& Policies() { return ClusterPropagationPolicies(); }
  static kube::ObjectKey ClaimOn(const kube::Object& object);
  static bool Claim(const kube::Object& policy, kube::Object& object);
  static bool Unclaim(kube::Object& object);
  // Returns "cluster policy(name)".
  static std::string Describe(const kube::ObjectKey& policy);
};

}  // namespace api::policy_scope

#endif  // API_POLICY_SCOPE_H_
