// karmada-sandbox member down NAME, member up NAME, agent down NAME, agent up NAME, manager down,
// manager up: stops a part of a running sandbox and starts it again. member join NAME: lets a
// member that has left join again.
#ifndef CMD_SANDBOX_STEERING_H_
#define CMD_SANDBOX_STEERING_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cmd/sandbox/options.h"
#include "cmd/sandbox/session.h"

namespace cmd {

// Carries out "member down NAME", "member up NAME", "member join NAME", "agent down NAME", "agent
// up NAME", "manager down" or "manager up" inside the running sandbox; returns a text for the user
// about what happens next. A member that is down refuses connections and keeps its objects.
absl::StatusOr<std::string> Steer(Session& session, const std::string& request);

// Returns --dir, or the directory of the first file of KUBECONFIG. kInvalidArgument when there is
// neither.
absl::StatusOr<std::string> DirectoryOf(const SandboxOptions& options);

// Asks the sandbox that runs in --dir, or else in the directory of KUBECONFIG, to do so.
absl::Status RunSteering(const SandboxOptions& options);

}  // namespace cmd

#endif  // CMD_SANDBOX_STEERING_H_
