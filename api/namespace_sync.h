// Which Namespaces go to every cluster by themselves.
#ifndef API_NAMESPACE_SYNC_H_
#define API_NAMESPACE_SYNC_H_

#include "kube/meta/object.h"

namespace api {

// Returns whether the Namespace is never written into all clusters, whatever the flags say: it is
// being deleted, is `default` or one of Karmada's own, or its label
// namespace.karmada.io/skip-auto-propagation says "true" in any case of letters. A policy may still
// propagate it.
bool IsKeptFromSync(const kube::Object& ns);

}  // namespace api

#endif  // API_NAMESPACE_SYNC_H_
