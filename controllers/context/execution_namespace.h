// Clusters whose execution namespace is created.
#ifndef CONTROLLERS_CONTEXT_EXECUTION_NAMESPACE_H_
#define CONTROLLERS_CONTEXT_EXECUTION_NAMESPACE_H_

#include <functional>
#include <string>

#include "controllers/context/context.h"
#include "kube/runtime/controller.h"

namespace controllers {

// While this process leads, calls `made` with the name of the cluster whenever an execution
// namespace is created: that of a cluster that joins late, or one that somebody had deleted. Loops
// that write Works wait for it. Namespaces of the first list need no call. `made` runs in the
// informer's thread and must not block; it is called until `controller` is destroyed.
void OnExecutionNamespace(const Context& context, kube::Controller& controller,
                          std::function<void(const std::string& cluster)> made);

}  // namespace controllers

#endif  // CONTROLLERS_CONTEXT_EXECUTION_NAMESPACE_H_
