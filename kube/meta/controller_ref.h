// The owner reference by which an object belongs to the one that made it.
#ifndef KUBE_META_CONTROLLER_REF_H_
#define KUBE_META_CONTROLLER_REF_H_

#include "kube/meta/object.h"

namespace kube {

// Returns a reference to `owner` as the controlling owner, which blocks the owner's deletion in the
// foreground (metav1.NewControllerRef).
OwnerRef ControllerRef(const Object& owner);

}  // namespace kube

#endif  // KUBE_META_CONTROLLER_REF_H_
