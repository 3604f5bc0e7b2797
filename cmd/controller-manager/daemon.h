// The controller manager as one object: connects, wires the loops, runs until stopped.
#ifndef CMD_CONTROLLER_MANAGER_DAEMON_H_
#define CMD_CONTROLLER_MANAGER_DAEMON_H_

#include "absl/status/status.h"
#include "base/stop_token.h"
#include "config/options.h"

namespace cmd {

// Blocks. OK after a stop; kInvalidArgument or kNotFound for an unusable kubeconfig; otherwise why
// it could not go on (API server unreachable at start, CRDs missing, lease lost).
absl::Status RunDaemon(const config::Options& options, const base::StopToken& stop);

}  // namespace cmd

#endif  // CMD_CONTROLLER_MANAGER_DAEMON_H_
