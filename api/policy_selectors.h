// The selectors of one policy, filed by what they name.
#ifndef API_POLICY_SELECTORS_H_
#define API_POLICY_SELECTORS_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "api/object_reference.h"
#include "api/resource_selector.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace api {

// A policy may have thousands of selectors, and as many templates to be matched with them. So an
// object is compared only with the selectors of its kind that have its name or none. Immutable.
class PolicySelectors {
 public:
  // `policy` is a propagation or override policy of either scope. It may go afterwards.
  explicit PolicySelectors(const kube::Object& policy);

  // The rank of the best selector (BestMatch).
  SelectorMatch Match(const kube::Object& object) const;
  // Returns whether a selector has the name of the object, and its namespace: that of the selector,
  // or, for a selector of a namespaced policy without one, that of the policy.
  bool Name(const kube::Object& object) const;
  // Returns whether a selector may select the object, whatever labels it has.
  bool MaySelect(const ObjectReference& object) const;
  // Returns whether a selector means objects of the kind.
  bool Contain(const kube::Gvk& gvk) const;

  const std::vector<ResourceSelector>& list() const { return selectors_; }
  using ByName = absl::flat_hash_map<std::string, std::vector<size_t>>;
  // The positions in list(), by what PlaceOf returns.
  const ByName& places() const { return places_; }
  // Returns where selectors of the kind are filed that have this name; "" for those without one.
  // Two kinds may share a place by chance, which does no harm: what is there is matched in full.
  static std::string PlaceOf(absl::string_view api_version, absl::string_view kind,
                             absl::string_view name);

 private:
  // An object, as far as places depend on it.
  struct Named {
    absl::string_view api_version, kind, name;
  };
  // Calls `visit` with each selector that may mean the object, until it returns true. Returns
  // whether it did.
  template <class Visit>
  bool AnyFor(const Named& object, Visit visit) const;

  const std::string policy_ns_;  // "" for a cluster-scoped policy.
  const std::vector<ResourceSelector> selectors_;
  ByName places_;
  absl::flat_hash_set<std::string> kinds_;  // Places without a name.
};

}  // namespace api

#endif  // API_POLICY_SELECTORS_H_
