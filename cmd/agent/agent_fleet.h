// One process that is the agent of many clusters: those of a directory, or those of Secrets.
#ifndef CMD_AGENT_AGENT_FLEET_H_
#define CMD_AGENT_AGENT_FLEET_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/http_server.h"
#include "base/profiling/profile_server.h"
#include "base/stop_token.h"
#include "config/agent_options.h"

namespace cmd {

// Blocks. OK after a stop; otherwise an address cannot be listened on, or an agent cannot be ended
// (kDeadlineExceeded). While the directory cannot
// be read, the agents that run go on. Several such processes on the same directory share the
// clusters by the leases of their agents: each cluster is served by the process that holds its
// lease. `options` are those of each agent but for the name and the kubeconfigs; the addresses are
// those of the process.
absl::Status RunAgentFleet(const config::AgentOptions& options, const base::StopToken& stop);

// The servers of the process, each of which may be missing.
struct FleetServers {
  std::unique_ptr<base::HttpServer> health, metrics;
  std::unique_ptr<profiling::ProfileServer> profiles;
};
// An address that cannot be listened on is an error that names its flag.
absl::StatusOr<FleetServers> ServeFleet(const config::Options& options,
                                        std::function<std::string()> metrics);

}  // namespace cmd

#endif  // CMD_AGENT_AGENT_FLEET_H_
