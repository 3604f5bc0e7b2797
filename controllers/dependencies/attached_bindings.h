// Bindings of dependencies: pure functions.
#ifndef CONTROLLERS_DEPENDENCIES_ATTACHED_BINDINGS_H_
#define CONTROLLERS_DEPENDENCIES_ATTACHED_BINDINGS_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace controllers {

// The label on bindings of what `binding` depends on; its value is that binding's permanent id.
std::string DependedByLabel(const kube::ObjectKey& binding);

// Finds a ResourceBinding; null when there is none.
using FindBinding = std::function<kube::ObjectPtr(const kube::ObjectKey& key)>;

// `attached` when `referrer` no longer needs it: without its label and its entry of
// spec.requiredBy. When no policy placed the binding, how conflicts and deletion are handled
// follows those that need it still (one that overwrites or preserves is enough), or is taken away
// with the last of them (upstream's handleIndependentBindingDeletion). kNotFound when a binding
// that needs it is missing.
absl::StatusOr<kube::Object> WithoutReferrer(const kube::Object& attached,
                                             const kube::ObjectKey& referrer,
                                             const FindBinding& find);

// `attached` with the clusters of `referrer` in the referrer's entry of spec.requiredBy; as it is
// when it has no such entry.
kube::Object WithClustersOf(const kube::Object& attached, const kube::Object& referrer);

}  // namespace controllers

#endif  // CONTROLLERS_DEPENDENCIES_ATTACHED_BINDINGS_H_
