// Reads a kubeconfig that was written by somebody whom this process does not trust with its files
// or with starting programs, such as the content of a Secret.
#ifndef KUBE_KUBECONFIG_SELF_CONTAINED_KUBECONFIG_H_
#define KUBE_KUBECONFIG_SELF_CONTAINED_KUBECONFIG_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kube/kubeconfig/kubeconfig.h"

namespace kube {

// Returns the connection of the current context. kInvalidArgument when the text is not a
// kubeconfig, or when any of its clusters or users refers to a file or to a program: such entries
// are refused before anything is read or started. Errors name the entry and the field, never a
// credential.
absl::StatusOr<ConnectionConfig> ParseSelfContainedKubeconfig(absl::string_view text);

}  // namespace kube

#endif  // KUBE_KUBECONFIG_SELF_CONTAINED_KUBECONFIG_H_
