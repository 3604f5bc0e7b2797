// The wait for a control plane that cannot be reached, at the start of an agent.
#ifndef CMD_AGENT_CONTROL_PLANE_REACH_H_
#define CMD_AGENT_CONTROL_PLANE_REACH_H_

#include <string>

#include "absl/status/status.h"
#include "base/stop_token.h"
#include "cmd/agent/connections.h"
#include "kube/client/client.h"

namespace cmd {

// Waits, as long as it takes, until the control plane answers and takes the agent's credentials.
// Nothing is asked of the cluster meanwhile. The log says what is waited for; probes at
// `health_address` are answered, and /readyz fails. A kubeconfig that is replaced counts at once.
// Returns early, with OK, for an answer that says that waiting is of no use: who asks next reports
// it. kCancelled after a stop, kUnavailable if the address cannot be bound. REQUIRES: `client` uses
// access.loops(), and is not used by anybody else.
absl::Status AwaitReach(kube::Client& client, ControlPlaneAccess& access,
                        const std::string& health_address, const base::StopToken& stop);

}  // namespace cmd

#endif  // CMD_AGENT_CONTROL_PLANE_REACH_H_
