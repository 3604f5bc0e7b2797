// Connects to a control plane, and to nothing else.
#ifndef CMD_LENS_CONTROL_PLANE_H_
#define CMD_LENS_CONTROL_PLANE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "tool/live_objects.h"

namespace cmd::lens {

// Does what tool::Connect does. kFailedPrecondition when the server is not a Karmada control plane:
// what it does not have would be taken for missing.
absl::StatusOr<std::unique_ptr<tool::LiveConnection>> ConnectToControlPlane(
    const tool::LiveOptions& options);

}  // namespace cmd::lens

#endif  // CMD_LENS_CONTROL_PLANE_H_
