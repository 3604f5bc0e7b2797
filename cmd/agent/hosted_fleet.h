// One process that is the agent of the clusters of Secrets in the cluster where it runs.
#ifndef CMD_AGENT_HOSTED_FLEET_H_
#define CMD_AGENT_HOSTED_FLEET_H_

#include "absl/status/status.h"
#include "base/stop_token.h"
#include "config/agent_options.h"

namespace cmd {

// Blocks. Of several replicas one serves all clusters, or each serves its part of them
// (--shard-clusters). OK after a stop; otherwise the reason why it cannot go on: the hosting
// cluster cannot be reached at the start, an address cannot be listened on, the lease is lost. Then
// no agent runs any more, or the code is kDeadlineExceeded.
absl::Status RunHostedFleet(const config::AgentOptions& options, const base::StopToken& stop);

}  // namespace cmd

#endif  // CMD_AGENT_HOSTED_FLEET_H_
