// What namespaces allow: admission's NamespaceLifecycle and the namespace registry. Emptying a
// terminating namespace is a controller's work, not the server's.
#ifndef SANDBOX_KINDS_NAMESPACE_RULES_H_
#define SANDBOX_KINDS_NAMESPACE_RULES_H_

#include "absl/status/status.h"
#include "kube/meta/object.h"
#include "sandbox/kinds/resource_info.h"

namespace sandbox {

GroupName NamespaceTable();
bool IsNamespaceKind(const ResourceInfo& info);

// `ns` is the namespace's object, nullptr when it does not exist (404); 403 when it is being
// terminated.
absl::Status CheckCreateInNamespace(const ResourceInfo& info, const kube::Object& object,
                                    const kube::ObjectPtr& ns);
// 403 for the namespaces that must always be there.
absl::Status CheckNamespaceDeletable(const ResourceInfo& info, const kube::Object& object);
// Returns whether this is a namespace that spec.finalizers still hold.
bool HoldsNamespace(const ResourceInfo& info, const kube::Object& object);

}  // namespace sandbox

#endif  // SANDBOX_KINDS_NAMESPACE_RULES_H_
