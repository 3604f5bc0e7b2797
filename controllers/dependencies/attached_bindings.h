// Edits bindings of dependencies (upstream: attached bindings): pure functions.
#ifndef CONTROLLERS_DEPENDENCIES_ATTACHED_BINDINGS_H_
#define CONTROLLERS_DEPENDENCIES_ATTACHED_BINDINGS_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace controllers {

// Returns the label that bindings of the dependencies of `binding` carry; its value is the
// permanent id of `binding`.
std::string DependedByLabel(const kube::ObjectKey& binding);

// Finds a ResourceBinding; nullptr when there is none.
using FindBinding = std::function<kube::ObjectPtr(const kube::ObjectKey& key)>;

// Returns `attached` after `referrer` has ceased to need it: without its label and its entry of
// spec.requiredBy. When no policy placed the binding, the handling of conflicts and deletion
// follows the bindings that still need it (one that overwrites or preserves is enough), and is
// removed with the last of them (upstream's handleIndependentBindingDeletion). kNotFound when a
// binding that needs it is missing.
absl::StatusOr<kube::Object> WithoutReferrer(const kube::Object& attached,
                                             const kube::ObjectKey& referrer,
                                             const FindBinding& find);

// Returns `attached` with the clusters of `referrer` in the referrer's entry of spec.requiredBy;
// unchanged when it has no such entry.
kube::Object WithClustersOf(const kube::Object& attached, const kube::Object& referrer);

}  // namespace controllers

#endif  // CONTROLLERS_DEPENDENCIES_ATTACHED_BINDINGS_H_
