// When a policy with activationPreference Lazy acts on a template: when a user edits or creates the
// template, and at no other time.
#ifndef DETECTOR_LAZY_ACTIVATION_H_
#define DETECTOR_LAZY_ACTIVATION_H_

#include "detector/policy_index.h"
#include "kube/meta/object.h"

namespace detector {

// A pass over a template that a lazy policy governs.
struct LazyPass {
  const kube::Object& object;  // The template as the pass has read it, before it is claimed.
  const kube::Object& policy;
  const kube::Object* binding;  // nullptr if there is none.
  bool has_passed;              // works::HasPassed; only asked for if there is a binding.
  bool by_karmada;              // The request is of the variant kChangedByKarmada.
  bool saw_edit;                // This process saw an edit that no binding records.
};

// Returns whether the policy acts in this pass. A template without a binding has one made if it was
// created after the policy, or if the request is about an edit; that the template has just been
// seen for the first time is not enough, since it may have been created a moment before the policy.
// Who gets the answer no about one that the policy has claimed asks WasEditedSinceClaim, too.
// One with a binding that a policy governs has to have been edited since its state passed last,
// whatever the request: a start, a resync or a new leader queues templates that nobody has edited,
// and may have missed an edit. A binding that no policy governs says nothing about that, so the
// request decides.
bool ActsNow(const LazyPass& pass);

// Returns whether somebody changed more than the status of a template after a policy of that scope
// claimed it, by the template's metadata.managedFields. Their times have whole seconds; an edit
// within the second of the claim is not found.
bool WasEditedSinceClaim(const json::Value& managed_fields, const kube::Object& policy);

// Returns whether the policy that has claimed the template is lazy, or, without a claim, the one
// that would be applied to it.
bool IsLazilyGoverned(const kube::Object& object, const PolicyIndex& policies,
                      const PolicyIndex& cluster_policies);

}  // namespace detector

#endif  // DETECTOR_LAZY_ACTIVATION_H_
