#include "api/control_plane.h"

#include "absl/strings/str_cat.h"
#include "api/resources.h"

namespace api {

bool IsControlPlaneGroup(absl::string_view group) {
  return group == Works().gvk.group || group == Clusters().gvk.group;
}

absl::Status NoControlPlane(absl::string_view server) {
  return absl::FailedPreconditionError(absl::StrCat(
      server, " is not a Karmada control plane, since it serves neither ", Works().gvk.group,
      " nor ", Clusters().gvk.group,
      ": --kubeconfig has to lead to the Karmada API server, not to the host cluster or a member"));
}

}  // namespace api
