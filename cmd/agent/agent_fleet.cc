// The thread of RunAgentFleet looks at the directory every two seconds and makes the set of agents
// equal to it: a folder that is gone ends its agent, another kubeconfig of the cluster begins it
// again, and another kubeconfig of the control plane is given to the agent that runs. While the
// directory cannot be read, all agents go on. When an agent cannot be ended, the process ends, and
// keeps the Lease of that one: its threads may still write.

#include "cmd/agent/agent_fleet.h"

#include <memory>
#include <utility>

#include "absl/time/time.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "cmd/agent/cluster_pairs.h"
#include "cmd/agent/fleet.h"
#include "controllers/process/listen_errors.h"

namespace cmd {
namespace {

constexpr absl::Duration kBetweenLooks = absl::Seconds(2);

bool IsOff(const std::string& address) { return address.empty() || address == "0"; }

base::HttpResponse Text(int code, std::string body) {
  return {.code = code, .content_type = "text/plain; version=0.0.4", .body = std::move(body)};
}

using Answer = std::function<base::HttpResponse(const std::string& path)>;

absl::StatusOr<std::unique_ptr<base::HttpServer>> Serve(const std::string& address, Answer answer) {
  if (IsOff(address)) return nullptr;
  base::HttpServerOptions options;
  options.address = address;
  return base::HttpServer::Start(
      options, [answer = std::move(answer)](base::HttpRequest request,
                                            std::shared_ptr<base::HttpResponder> responder) {
        responder->Send(answer(request.path));
      });
}

base::HttpResponse AnswerProbe(const std::string& path) {
  const bool is_probe = path == "/healthz" || path == "/livez" || path == "/readyz";
  return is_probe ? Text(200, "ok\n") : Text(404, "not found\n");
}

}  // namespace

absl::StatusOr<FleetServers> ServeFleet(const config::Options& options,
                                        std::function<std::string()> metrics) {
  FleetServers servers;
  ASSIGN_OR_RETURN(servers.health, Serve(options.health_probe_bind_address, AnswerProbe));
  const auto answer = [metrics = std::move(metrics)](const std::string& path) {
    return path == "/metrics" ? Text(200, metrics()) : Text(404, "not found\n");
  };
  ASSIGN_OR_RETURN(servers.metrics, Serve(options.metrics_bind_address, answer));
  if (!options.profiling.enabled) return servers;
  auto profiles =
      profiling::ProfileServer::Start(options.profiling.bind_address, base::RealClock());
  RETURN_IF_ERROR(controllers::WithProfilingFlag(profiles.status(), options));
  servers.profiles = *std::move(profiles);
  return servers;
}

absl::Status RunAgentFleet(const config::AgentOptions& options, const base::StopToken& stop) {
  Fleet fleet(options, /*fence=*/nullptr);
  ASSIGN_OR_RETURN(const FleetServers servers,
                   ServeFleet(options.loops, [&fleet] { return fleet.Metrics(); }));
  absl::Status last;
  do {
    const absl::StatusOr<ClusterPairs> pairs = ReadClusterPairs(options.agent.clusters_from);
    if (pairs.ok()) fleet.Follow(*pairs);
    if (!pairs.ok() && pairs.status() != last) {
      base::LogWarning("the clusters cannot be read; those that are known are served",
                       {{"error", pairs.status()}});
    }
    last = pairs.status();
    if (fleet.IsStuck()) {
      return absl::DeadlineExceededError("an agent has not ended in time");
    }
  } while (base::RealClock().SleepFor(kBetweenLooks, stop));
  return absl::OkStatus();
}

}  // namespace cmd
