// One process that is the agent of the clusters of Secrets in the cluster where it runs.
#ifndef CMD_AGENT_HOSTED_FLEET_H_
#define CMD_AGENT_HOSTED_FLEET_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/stop_token.h"
#include "config/agent_options.h"
#include "kube/http/transport.h"

namespace cmd {

// How the hosting cluster is reached, by two clients: renewals must not wait for other calls.
struct HostingConnections {
  std::string host;
  std::shared_ptr<kube::Transport> loops, leases;
};
// Reads --hosting-kubeconfig, or the account of the pod; its errors name the flag. Does not ask the
// cluster.
absl::StatusOr<HostingConnections> ConnectHosting(const config::AgentOptions& options);

// Blocks. Of several replicas one serves all clusters, or each serves its part of them
// (--shard-clusters). OK after a stop; otherwise the reason why it cannot go on: the hosting
// cluster cannot be reached at the start, an address cannot be listened on, the lease is lost. Then
// no agent runs any more. An agent, or anything else, that cannot be ended in time ends the
// process.
absl::Status RunHostedFleet(const config::AgentOptions& options, const HostingConnections& hosting,
                            const base::StopToken& stop);

}  // namespace cmd

#endif  // CMD_AGENT_HOSTED_FLEET_H_
