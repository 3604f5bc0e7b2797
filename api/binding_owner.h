// Whose binding a binding is.
#ifndef API_BINDING_OWNER_H_
#define API_BINDING_OWNER_H_

#include "absl/status/status.h"
#include "kube/meta/object.h"

namespace api {

// Returns OK when the binding's controlling owner is the object that `owner` refers to, or when the
// binding has none; else kFailedPrecondition, which names the owner and what can be done. Bindings
// are named after kind and name alone, so objects of two API groups may need the same one, and so
// may names that differ only in a colon.
absl::Status CheckBindingOwner(const kube::Object& binding, const kube::OwnerRef& owner);

}  // namespace api

#endif  // API_BINDING_OWNER_H_
