// Clusters whose execution namespace comes into being.
#ifndef LOOPS_EXECUTION_NAMESPACE_H_
#define LOOPS_EXECUTION_NAMESPACE_H_

#include <functional>
#include <string>

#include "kube/runtime/controller.h"
#include "loops/context.h"

namespace loops {

// While this process leads, calls `made` with the name of the cluster whenever an execution
// namespace is created: that of a cluster that joins late, or one that somebody had deleted. Loops
// that write Works wait for it. Namespaces of the first list need no call. `made` runs in the
// informer's thread and must not block; it is called until `controller` is destroyed.
void OnExecutionNamespace(const Context& context, kube::Controller& controller,
                          std::function<void(const std::string& cluster)> made);

}  // namespace loops

#endif  // LOOPS_EXECUTION_NAMESPACE_H_
