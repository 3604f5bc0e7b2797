// The agent of one cluster: it registers the cluster, wires the loops and runs until it is stopped.
#ifndef CMD_AGENT_AGENT_H_
#define CMD_AGENT_AGENT_H_

#include <memory>

#include "absl/status/status.h"
#include "base/metrics.h"
#include "base/stop_token.h"
#include "cmd/agent/connections.h"
#include "config/agent_options.h"

namespace kube {
class WorkerPool;
}

namespace cmd {

// In what an agent runs.
struct AgentPlace {
  // Given by a process that shows the metrics of several agents. With nullptr the agent serves its
  // own.
  std::shared_ptr<metrics::Registry> registry;
  // The threads of the loops of all agents of the process. With nullptr the agent has its own.
  std::shared_ptr<kube::WorkerPool> pool;
  // The process ends with the agent.
  bool ends_process = true;
};

// Blocks. OK after a stop; otherwise the reason why it cannot go on: a server that cannot be
// reached at the start, a registration that is refused, the lease lost. After an error for which
// controllers::IsOtherRelease holds the process begins again. The agent behaves as the release of
// the options, or else of the control plane.
absl::Status RunAgent(config::AgentOptions options, const AgentConnections& connections,
                      const AgentPlace& place, const base::StopToken& stop);

}  // namespace cmd

#endif  // CMD_AGENT_AGENT_H_
