// A quick look at templates: most of a fleet are fine, and that is seen without asking all checks.
#ifndef LENS_FLEET_GLANCE_H_
#define LENS_FLEET_GLANCE_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "lens/fleet/candidate.h"
#include "lens/why/chain.h"
#include "overrides/policy.h"

namespace lens::fleet {

// Calls a template fine only if each check of lens/why that concludes from what lists show would:
// it may doubt one that is fine, and the checks decide then. Immutable once it is made.
class Glance {
 public:
  // `shared` has the policies, clusters and rules; `overrides` are the OverridePolicies of all
  // namespaces. `bindings` are all of both kinds. REQUIRES: they outlive this object.
  Glance(const why::Chain& shared, const std::vector<kube::ObjectPtr>& overrides,
         const std::vector<kube::ObjectPtr>& bindings);

  // Returns whether template, policy, binding and clusters are as they should be, as far as one
  // sees without Works.
  bool IsFine(const Candidate& candidate) const;
  // Returns whether the Work has the template's present state, and is applied and well.
  bool IsFine(const Candidate& candidate, const std::string& cluster,
              const kube::Object& work) const;
  // Returns whether a fine Work is in each cluster that the binding chooses, and in no other.
  bool HasItsWorks(const Candidate& candidate) const;
  // Returns the binding of that kind and name, nullptr when there is none.
  kube::ObjectPtr FindBinding(const kube::Gvk& gvk, const kube::ObjectKey& key) const;

 private:
  bool IsTemplateFine(const Candidate& candidate) const;
  bool IsPolicyFine(const Candidate& candidate) const;
  bool IsPlaced(const Candidate& candidate) const;
  bool AreClustersFine(const Candidate& candidate) const;
  bool AreNeedsFine(const Candidate& candidate) const;
  bool IsOverridden(const kube::Object& object) const;

  const why::Chain& shared_;
  absl::flat_hash_map<std::string, kube::ObjectPtr> policies_;  // By "PropagationPolicy shop/web".
  std::vector<kube::ObjectPtr> preempting_;
  absl::flat_hash_map<std::string, std::vector<overrides::PolicyPtr>> overrides_;  // By namespace.
  absl::flat_hash_set<std::string> ready_;  // Clusters that are as they should be.
  absl::flat_hash_map<std::string, kube::ObjectPtr> bindings_;  // By "ResourceBinding shop/web".
  // Namespaces ("" for what has none) with a binding that is not applied in all of its clusters:
  // what needs its object is not fine either.
  absl::flat_hash_set<std::string> with_refusals_;
};

}  // namespace lens::fleet

#endif  // LENS_FLEET_GLANCE_H_
