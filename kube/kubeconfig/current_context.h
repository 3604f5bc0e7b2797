// Which context of a kubeconfig is meant, for programs that load it again: what is meant by default
// may be another one by then.
#ifndef KUBE_KUBECONFIG_CURRENT_CONTEXT_H_
#define KUBE_KUBECONFIG_CURRENT_CONTEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "kube/kubeconfig/kubeconfig.h"

namespace kube {

// Returns the name of the context that LoadConnectionConfig takes with these options; "" in a pod,
// whose configuration has none. Its errors are those of LoadConnectionConfig about files.
absl::StatusOr<std::string> CurrentContext(const KubeconfigOptions& options);

}  // namespace kube

#endif  // KUBE_KUBECONFIG_CURRENT_CONTEXT_H_
