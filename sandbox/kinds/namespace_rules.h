// The rules of namespaces: admission's NamespaceLifecycle and the namespace registry. Emptying a
// terminating namespace is the task of a controller, not of the server.
#ifndef SANDBOX_KINDS_NAMESPACE_RULES_H_
#define SANDBOX_KINDS_NAMESPACE_RULES_H_

#include "absl/status/status.h"
#include "kube/meta/object.h"
#include "sandbox/kinds/resource_info.h"

namespace sandbox {

GroupName NamespaceTable();
bool IsNamespaceKind(const ResourceInfo& info);

// `ns` is the namespace object, nullptr when it does not exist (404); 403 when it is being
// terminated.
absl::Status CheckCreateInNamespace(const ResourceInfo& info, const kube::Object& object,
                                    const kube::ObjectPtr& ns);
// 403 for namespaces that must always exist.
absl::Status CheckNamespaceDeletable(const ResourceInfo& info, const kube::Object& object);
// Returns whether this is a namespace that is still held by spec.finalizers.
bool HoldsNamespace(const ResourceInfo& info, const kube::Object& object);

}  // namespace sandbox

#endif  // SANDBOX_KINDS_NAMESPACE_RULES_H_
