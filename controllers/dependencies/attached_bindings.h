// Makes and edits the bindings of dependencies (upstream: attached bindings): pure functions.
//
// A binding that propagates its dependencies is the referrer of the bindings attached to it. An
// attached binding has a label for each of its referrers, and an entry in spec.requiredBy with the
// clusters to which that referrer takes the object. No scheduler places it, unless a policy has
// claimed the object too.
#ifndef CONTROLLERS_DEPENDENCIES_ATTACHED_BINDINGS_H_
#define CONTROLLERS_DEPENDENCIES_ATTACHED_BINDINGS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace controllers {

// Returns the label that bindings of the dependencies of `binding` carry; its value is the
// permanent id of `binding`.
std::string DependedByLabel(const kube::ObjectKey& binding);

// The index of ResourceBindings by their referrers: by each label, and by each entry of
// spec.requiredBy, because somebody may have removed one of the two.
inline constexpr char kReferrerIndex[] = "referrer";
std::vector<std::string> ReferrerKeys(const kube::Object& attached);
// Returns the values under which the index has what is attached to `referrer`.
std::vector<std::string> KeysOfReferrer(const kube::ObjectKey& referrer);

// Finds a ResourceBinding; nullptr when there is none. A referrer that is not found does not exist
// any more: it demands nothing, and its traces are removed with the next edit.
using FindBinding = std::function<kube::ObjectPtr(const kube::ObjectKey& key)>;

// What came of an edit of an attached binding.
struct Attached {
  kube::Object binding;
  // Which demands of its referrers differ, and who demands what, for an event; "" when all demand
  // the same.
  std::string conflict;
};

// Returns the binding of `object`, on which the template of `referrer` depends, in the namespace of
// `referrer`: `existing` (nullptr: a new one) with the referrer's label, its clusters and a
// reference to the object. When no policy placed the binding, it overwrites or preserves if one of
// its referrers does (upstream's buildAttachedBinding and createOrUpdateAttachedBinding). In the
// reference of an existing binding the resourceVersion stays, because what follows the object's
// edits is asked to look at it (works/rechecks.h), and so does the version of the API, in which two
// referrers may differ. kFailedPrecondition when `existing` belongs to another object.
absl::StatusOr<Attached> WithReferrer(const kube::Object* existing, const kube::Object& object,
                                      const kube::Object& referrer, const FindBinding& find);

// Returns the referrers that an update of an attached binding contradicts: whose clusters in
// spec.requiredBy it has changed to others than they have, or, if no policy placed the binding,
// whose handling of conflicts and deletion is not the one that it has set. That is what remains of
// an edit by somebody else; a write of this loop contradicts a referrer only where the demands of
// several differ.
std::vector<kube::ObjectKey> ReferrersContradicted(const kube::Object& before,
                                                   const kube::Object& after,
                                                   const FindBinding& find);

// Returns `attached` after `referrer` has ceased to need it: without its label and its entry of
// spec.requiredBy. When no policy placed the binding, the handling of conflicts and deletion
// follows the bindings that still need it (one that overwrites or preserves is enough), and is
// removed with the last of them (upstream's handleIndependentBindingDeletion).
kube::Object WithoutReferrer(const kube::Object& attached, const kube::ObjectKey& referrer,
                             const FindBinding& find);

// Returns `attached` with the clusters of `referrer` in the referrer's entry of spec.requiredBy;
// unchanged when it has no such entry.
kube::Object WithClustersOf(const kube::Object& attached, const kube::Object& referrer);

}  // namespace controllers

#endif  // CONTROLLERS_DEPENDENCIES_ATTACHED_BINDINGS_H_
