// Override policies, parsed: which templates each of them selects, and its rules.
#ifndef OVERRIDES_POLICY_H_
#define OVERRIDES_POLICY_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "api/cluster.h"
#include "api/cluster_affinity.h"
#include "api/object_reference.h"
#include "api/policy_selectors.h"
#include "api/resource_selector.h"
#include "base/json.h"
#include "kube/cache/cluster_client.h"
#include "kube/meta/object.h"

namespace overrides {

// An item of spec.overrideRules.
struct Rule {
  std::optional<api::ClusterAffinity> target;  // nullopt stands for every cluster.
  json::Value overriders;
  std::string field;  // Where the overriders are: "spec.overrideRules[0].overriders".

  bool AppliesTo(const api::ClusterView& cluster) const {
    return !target.has_value() || target->Matches(cluster);
  }
};

// A parsed OverridePolicy or ClusterOverridePolicy. Immutable.
class Policy {
 public:
  explicit Policy(kube::ObjectPtr object);

  const kube::Object& object() const { return *object_; }
  absl::string_view ns() const { return object_->ns(); }  // "" for a ClusterOverridePolicy.
  absl::string_view name() const { return object_->name(); }
  // The older spec.targetCluster and spec.overriders are one rule; they count only when there are
  // no overrideRules.
  absl::Span<const Rule> rules() const { return rules_; }

  // Returns how specifically the policy selects the object. A policy without selectors selects
  // everything, as unspecifically as a selector of the kind alone. The namespaces of policy and
  // object are not compared.
  api::SelectorMatch Rank(const kube::Object& object) const;
  // Returns whether the policy may select the object of that name, whatever labels it has.
  bool MaySelect(const api::ObjectReference& object) const;
  // Returns whether nobody but this policy holds its object, as when the cache has replaced it.
  bool IsStale() const { return object_.use_count() == 1; }

 private:
  kube::ObjectPtr object_;
  std::shared_ptr<const api::PolicySelectors> selectors_;
  std::vector<Rule> rules_;
};
using PolicyPtr = std::shared_ptr<const Policy>;

// Returns whether a change of the cluster from `before` to `after` may change what the policy's
// rules do there. `before` is nullptr for a cluster that was not known. Only the targets of the
// rules are parsed for that.
bool Follows(const kube::Object& policy, const kube::Object* before, const kube::Object& after);

// The policies that may select an object, in no particular order.
struct Policies {
  std::vector<PolicyPtr> cluster_wide;  // ClusterOverridePolicies.
  std::vector<PolicyPtr> of_namespace;  // OverridePolicies of the object's namespace.
  bool empty() const { return cluster_wide.empty() && of_namespace.empty(); }
};

// Reads policies from the cache and keeps them parsed. What it keeps follows from the cache.
// Thread-safe.
class ParsedPolicies {
 public:
  // REQUIRES: `control_plane` outlives this object.
  explicit ParsedPolicies(kube::ClusterClient& control_plane) : client_(control_plane) {}

  // Returns the policies for objects of the namespace; "" stands for cluster-scoped objects, to
  // which no OverridePolicy applies.
  Policies For(absl::string_view ns);

 private:
  std::vector<PolicyPtr> Parsed(const std::vector<kube::ObjectPtr>& objects);
  void DropStale() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  kube::ClusterClient& client_;
  absl::Mutex mu_;
  // By the address of the policy's object, which the entry keeps alive.
  absl::flat_hash_map<const kube::Object*, PolicyPtr> parsed_ ABSL_GUARDED_BY(mu_);
  // When there are so many entries, those of objects that the cache has replaced are dropped.
  size_t sweep_at_ ABSL_GUARDED_BY(mu_) = 64;
};

}  // namespace overrides

#endif  // OVERRIDES_POLICY_H_
