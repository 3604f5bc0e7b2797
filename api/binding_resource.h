// Which object a binding may stand for: every loop that follows a binding's spec.resource asks here
// first.
//
// Upstream's ClusterRole karmada-edit lets whoever may edit a namespace write the ResourceBindings
// there, with any spec.resource. The loops act with Karmada's own rights, so a ResourceBinding that
// named an object of another namespace, or one without a namespace, would give its author what the
// control plane's RBAC denies them. No binding that Karmada makes is refused: the detector, the
// dependencies distributor and MultiClusterServices make bindings of objects in the same namespace.
// Writers of ClusterResourceBindings have rights in the whole control plane; these are not judged.
#ifndef API_BINDING_RESOURCE_H_
#define API_BINDING_RESOURCE_H_

#include "absl/status/status.h"
#include "api/object_reference.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace api {

// Returns whether the binding may stand for the object that its spec.resource names: it is a
// ClusterResourceBinding, or the object is said to be in the namespace of the ResourceBinding, and
// that is none of Karmada's own (IsReservedNamespace). The kind may still turn out to have no
// namespaces.
bool MayStandForResource(const kube::Object& binding);

// Returns OK when MayStandForResource holds and the kind that was found, if it is given, has
// namespaces if the binding has one; else a terminal kPermissionDenied that says what is wrong and
// what can be done.
absl::Status CheckBindingResource(const kube::Object& binding,
                                  const kube::Resource* kind = nullptr);

}  // namespace api

#endif  // API_BINDING_RESOURCE_H_
