// Which policies select the template and which of them goes first: the detector's rules, over a
// chain.
#ifndef LENS_WHY_MATCHING_H_
#define LENS_WHY_MATCHING_H_

#include <string>
#include <vector>

#include "api/resource_selector.h"
#include "kube/meta/object.h"
#include "lens/why/chain.h"

namespace lens::why {

struct Match {
  kube::ObjectPtr policy;
  int64_t priority = 0;
  api::SelectorMatch rank = api::SelectorMatch::kNone;

  bool namespaced() const { return !policy->ns().empty(); }
  // Returns "PropagationPolicy shop/web".
  std::string Describe() const { return policy->Describe(); }
};

// Returns the policies that select the template and may govern it, best first: those of its
// namespace before those of the cluster, and in each group in the detector's order. Policies being
// deleted do not count.
std::vector<Match> Matches(const Chain& chain);

// Returns how the policy selects the object.
Match MatchOf(const kube::ObjectPtr& policy, const kube::Object& object);

// Returns whether the detector prefers the first policy to the second one for a template that
// neither has claimed.
bool GoesBefore(const Match& a, const Match& b);

// Returns why `better` goes before `other`: "it has the higher priority (10 over 0)".
std::string WhyBefore(const Match& better, const Match& other);

// Returns the policy whose claim the object has, and nullptr when it has none or the policy does
// not exist; `claim` receives its kind and name, "" for none.
kube::ObjectPtr ClaimingPolicy(const Chain& chain, const kube::Object& object, std::string* claim);

// Returns the fields of the binding's spec in which the detector would now write something else,
// because the policy has changed: "placement". None for a binding that belongs to another object.
std::vector<std::string> FieldsBehind(const kube::Object& object, const kube::Object& binding,
                                      const kube::Object& policy);

// Returns whether the binding has each such field as it stands in the policy. Then none is behind;
// if not, FieldsBehind says whether one is.
bool HasFieldsOf(const kube::Object& binding, const kube::Object& policy);

// An override policy that a policy waits for (spec.dependentOverrides).
struct AwaitedOverride {
  kube::ObjectPtr policy;  // nullptr when nothing is waited for.
  kube::ObjectKey key;     // Of the override policy, which does not exist.
};
// Returns what the policy waits for that has claimed the template, or else that may claim it.
AwaitedOverride MissingOverride(const Chain& chain);

// What keeps a policy from selecting the template; a later one is nearer to selecting it.
enum class Nearness {
  kFar,                     // Nothing suggests that it is meant for the template.
  kSelectsOthersLikeIt,     // It selects such objects, but those of other namespaces.
  kOtherVersionAndName,     // Its selector has the kind in another version, and a similar name.
  kMisspeltKind,            // Its selector names no object, or one with a similar name.
  kPolicyInOtherNamespace,  // It names the template, and is in another namespace.
  kOtherNamespace,          // Its selector names the template, in another namespace.
  kMisspeltName,
  kOtherLabels,
  kOtherVersion,
  kMisspeltKindOfThatName,  // Its selector names the template, and misspells the kind.
  kNeedsClusterPolicy,      // A PropagationPolicy names an object that has no namespace.
  kBeingDeleted,            // It would select the template if it were not being deleted.
};

// How likely a policy is to be the template's, before one looks at its selectors; a later one is
// likelier.
enum class Kinship { kOtherNamespace, kCluster, kSameNamespace };

// A policy that nearly selects the template.
struct NearMiss {
  kube::ObjectPtr policy;
  std::string why;  // "selects only the name api": goes after the policy's name.
  std::string advice;
  Nearness nearness = Nearness::kFar;
  Kinship kinship = Kinship::kOtherNamespace;
  std::string name = {};  // That the selector is for; "" when it names none.
};
// Returns those that come near, the nearest first: a policy of the template's namespace goes before
// one of the cluster, and that before one of another namespace, which can never govern it.
std::vector<NearMiss> NearMisses(const Chain& chain);

// Returns how nearly one policy selects the object, which it does not.
NearMiss MissOf(const kube::Object& object, const kube::ObjectPtr& policy);

}  // namespace lens::why

#endif  // LENS_WHY_MATCHING_H_
