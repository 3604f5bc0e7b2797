// Makes and edits the bindings of dependencies (upstream: attached bindings): pure functions.
//
// A binding that propagates its dependencies is the referrer of the bindings attached to it. An
// attached binding has a label for each of its referrers, and an entry in spec.requiredBy with the
// clusters to which that referrer takes the object: those in which the scheduler has placed it, and
// after them those that the entry already named and in which the referrer's template still is. No
// scheduler places an attached binding, unless a policy has claimed the object too.
#ifndef CONTROLLERS_DEPENDENCIES_ATTACHED_BINDINGS_H_
#define CONTROLLERS_DEPENDENCIES_ATTACHED_BINDINGS_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
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

// Finds a ResourceBinding; nullptr when there is none. A referrer that is not found may not exist
// yet, because a restored backup brings it later: its entry stays, and so does what overwrites or
// preserves already. WithoutReferrer takes off those of a referrer that has gone.
using FindBinding = std::function<kube::ObjectPtr(const kube::ObjectKey& key)>;
// Returns whether the template of `referrer` may still be in a cluster in which it is not placed.
using StillIn = std::function<bool(const kube::Object& referrer, absl::string_view cluster)>;
// What has to be looked up for an edit.
struct Lookups {
  FindBinding find;
  StillIn still_in;
};

// Returns whether the label of `referrer` is on the binding with the right value: its permanent id,
// or that of another referrer in spec.requiredBy whose label has the same name by chance. Of those
// the first one keeps it.
bool HasLabelOf(const kube::Object& attached, const kube::Object& referrer,
                const FindBinding& find);

// The result of an edit of an attached binding.
struct Attached {
  kube::Object binding;
  // Which demands of its referrers differ, and who demands what, for an event; "" when all demand
  // the same. Nullopt: nobody has looked, because the referrer had all that it demands.
  std::optional<std::string> conflict;
};

// Returns the text of Attached::conflict. Its cost grows with the number of referrers.
std::string ConflictAbout(kube::Object attached, const FindBinding& find);

// Returns the binding of `object`, on which the template of `referrer` depends, in the namespace of
// `referrer`: `existing` (nullptr: a new one) with the referrer's label, its clusters and a
// reference to the object. When no policy placed the binding, it overwrites or preserves if one of
// its referrers does (upstream's buildAttachedBinding and createOrUpdateAttachedBinding). In the
// reference of an existing binding the resourceVersion stays, because what follows the object's
// edits is asked to look at it (works/rechecks.h), and so does the version of the API, in which two
// referrers may differ. kFailedPrecondition when `existing` belongs to another object.
absl::StatusOr<Attached> WithReferrer(const kube::Object* existing, const kube::Object& object,
                                      const kube::Object& referrer, const Lookups& lookups);

// Returns the referrers that an update of an attached binding contradicts: whose clusters in
// spec.requiredBy it has changed to others than they need, or, if no policy placed the binding,
// whose handling of conflicts and deletion is not the one that it has set. That is what remains of
// an edit by somebody else; a write of this loop contradicts a referrer only where the demands of
// several differ.
std::vector<kube::ObjectKey> ReferrersContradicted(const kube::Object& before,
                                                   const kube::Object& after,
                                                   const Lookups& lookups);

// Returns the referrers of `before` that are not in `after`, its update, any more, or not by their
// label. There may be hundreds of referrers, and each of them updates the binding.
std::vector<kube::ObjectKey> ReferrersLost(const kube::Object& before, const kube::Object& after,
                                           const FindBinding& find);

// Returns `attached` after `referrer` has ceased to need it: without its entry of spec.requiredBy,
// and without its label, unless that is also the label of another entry. When no policy placed the
// binding, the handling of conflicts and deletion follows the bindings that still need it (one that
// overwrites or preserves is enough), and is removed with the last of them (upstream's
// handleIndependentBindingDeletion).
kube::Object WithoutReferrer(const kube::Object& attached, const kube::ObjectKey& referrer,
                             const FindBinding& find);

// Returns the clusters in the referrer's entry of spec.requiredBy in which the referrer is not
// placed.
std::vector<std::string> ClustersLeft(const kube::Object& attached, const kube::Object& referrer);

// Returns `attached` with the clusters of `referrer` in the referrer's entry of spec.requiredBy;
// unchanged when it has no such entry.
kube::Object WithClustersOf(const kube::Object& attached, const kube::Object& referrer,
                            const StillIn& still_in);

}  // namespace controllers

#endif  // CONTROLLERS_DEPENDENCIES_ATTACHED_BINDINGS_H_
