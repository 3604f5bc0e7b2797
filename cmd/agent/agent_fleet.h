// One process that is the agent of many clusters: those of a directory, which is followed.
//
// Each cluster has an agent of its own (RunAgent), with its credentials, its informers, its bound
// of memory and its leader lease; their loops share threads, of which a slow cluster holds only as
// many as an agent of its own would have started. What happens to one does not reach the others. An
// agent that ends by itself, because its kubeconfig cannot be used, its registration is refused or
// its lease is lost, is started again after a while. Several such processes on the same directory
// share the clusters by the leases: each cluster is served by the process that holds its lease.
#ifndef CMD_AGENT_AGENT_FLEET_H_
#define CMD_AGENT_AGENT_FLEET_H_

#include "absl/status/status.h"
#include "base/stop_token.h"
#include "config/agent_options.h"

namespace cmd {

// Blocks. OK after a stop; otherwise an address cannot be listened on. While the directory cannot
// be read, the agents that run go on. `options` are those of each agent but for the name and the
// kubeconfigs; the addresses are those of the process.
absl::Status RunAgentFleet(const config::AgentOptions& options, const base::StopToken& stop);

}  // namespace cmd

#endif  // CMD_AGENT_AGENT_FLEET_H_
