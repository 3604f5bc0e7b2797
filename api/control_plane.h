// How a Karmada control plane differs from other Kubernetes API servers.
#ifndef API_CONTROL_PLANE_H_
#define API_CONTROL_PLANE_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace api {

// Returns whether a server with this API group is a control plane. Others of Karmada's groups are
// no sign of one: a member has ServiceExports and ServiceImports when services across clusters are
// used.
bool IsControlPlaneGroup(absl::string_view group);

// Returns a kFailedPrecondition that says that the server has no such group, and where the
// kubeconfig has to lead.
absl::Status NoControlPlane(absl::string_view server);

}  // namespace api

#endif  // API_CONTROL_PLANE_H_
