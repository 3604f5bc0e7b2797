// The agent of one cluster: it registers the cluster, wires the loops and runs until it is stopped.
#ifndef CMD_AGENT_AGENT_H_
#define CMD_AGENT_AGENT_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/metrics.h"
#include "base/stop_token.h"
#include "cmd/agent/connections.h"
#include "config/agent_options.h"
#include "controllers/process/loop_parts.h"
#include "kube/runtime/leader_fence.h"

namespace cmd {

// In what an agent runs.
struct AgentPlace {
  // Given by a process that shows the metrics of several agents. With nullptr the agent serves its
  // own.
  std::shared_ptr<metrics::Registry> registry;
  // Keeps its writes back, also those of its registration; nullptr: it has a leader lease of its
  // own (with --leader-elect), and only the loops' writes are kept back when that is lost.
  std::shared_ptr<kube::LeaderFence> fence;
  // What it shares with the other agents of the process.
  controllers::SharedParts shared = {};
  // The process ends with the agent.
  bool ends_process = true;
};

// Blocks. OK after a stop; otherwise the reason why it cannot go on: a server that cannot be
// reached at the start, a registration that is refused, the lease lost. After an error for which
// controllers::IsOtherRelease holds the process begins again. The agent behaves as the release of
// the options, or else of the control plane.
absl::Status RunAgent(config::AgentOptions options, const AgentConnections& connections,
                      const AgentPlace& place, const base::StopToken& stop);

// An agent that runs without a thread of its own.
class RunningAgent {
 public:
  struct Calls {
    // Called when the agent cannot go on, on any thread, perhaps several times; End then returns
    // why. It must not block.
    std::function<void()> on_failure;
    base::StopToken stop;  // Ends the start.
  };
  // Blocks until the cluster is registered and everything has been started. Errors are those of
  // RunAgent.
  static absl::StatusOr<std::unique_ptr<RunningAgent>> Start(config::AgentOptions options,
                                                             AgentConnections connections,
                                                             const AgentPlace& place, Calls calls);
  // Ends the agent, and returns what RunAgent would. After kDeadlineExceeded some of its threads
  // still run, and nothing has been destroyed.
  static absl::Status End(std::unique_ptr<RunningAgent> agent);
  ~RunningAgent();

  // Returns its metrics as /metrics of an agent alone does. REQUIRES: End has not been called.
  std::string Metrics();

 private:
  struct Impl;
  explicit RunningAgent(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace cmd

#endif  // CMD_AGENT_AGENT_H_
