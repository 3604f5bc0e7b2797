// karmada-agent: the agent of a member cluster of Karmada in pull mode.

#include <unistd.h>

#include <iostream>
#include <string>

#include "api/programs.h"
#include "base/daemon_process.h"
#include "base/descriptors.h"
#include "base/log.h"
#include "base/profiling/heap_profile.h"
#include "base/stop_limit.h"
#include "base/stop_signals.h"
#include "base/stop_token.h"
#include "cmd/agent/agent.h"
#include "cmd/agent/agent_fleet.h"
#include "cmd/agent/cluster_pairs.h"
#include "cmd/agent/connections.h"
#include "cmd/agent/hosted_fleet.h"
#include "cmd/agent/permissions.h"
#include "config/agent_options.h"
#include "config/command_line.h"
#include "config/permission_flags.h"
#include "config/served/release_watch.h"
#include "config/support.h"
#include "config/version.h"
#include "controllers/process/loop_parts.h"
#include "kube/http/http_transport.h"
#include "kube/kubeconfig/kubeconfig.h"

namespace {

constexpr int kFailed = 1;

void LogStart(const config::AgentOptions& options) {
  const config::BuildInfo build = config::Build();
  base::LogInfo("karmada-agent starts", {{"version", build.version},
                                         {"commit", build.commit},
                                         {"cluster", options.agent.cluster_name},
                                         {"flags", options.loops.changed_flags},
                                         {"gates", options.loops.gates.Changed()}});
  for (const config::Warning& warning : options.loops.warnings) base::LogWarning(warning.text);
}

// Outside of a pod it is easily another one than was meant, such as that of the control plane.
void LogOriginOfMember(const config::AgentOptions& options,
                       const cmd::AgentConnections& connections) {
  const std::string origin = cmd::OriginOfMember(options);
  if (origin.empty()) return;
  base::LogInfo("the kubeconfig of the cluster",
                {{"from", origin},
                 {"server", kube::HostOf(connections.member->server)},
                 {"cluster", options.agent.cluster_name}});
}

// Runs until it is stopped; returns the exit code. `argv` is that of the process.
int RunOne(char** argv, const config::AgentOptions& options, const base::StopToken& stop) {
  const absl::StatusOr<cmd::AgentConnections> connections = cmd::ConnectAgent(options);
  if (!connections.ok()) {
    base::LogError("a kubeconfig cannot be used", {{"error", connections.status()}});
    return config::kUsageExitCode;
  }
  LogOriginOfMember(options, *connections);
  const absl::Status result = cmd::RunAgent(options, *connections, {}, stop);
  // A stop during the start is not a failure either.
  if (result.ok() || (stop.stop_requested() && absl::IsCancelled(result))) return 0;
  if (config::IsOtherRelease(result)) {
    // A stop meanwhile is for the process, whatever it behaves as.
    if (stop.stop_requested()) return 0;
    config::BeginAgain(argv, result);
  }
  base::LogError("karmada-agent ends", {{"error", result}});
  // Threads that outlived the graceful period must not delay the end of the process.
  if (absl::IsDeadlineExceeded(result)) _exit(kFailed);
  return kFailed;
}

int Run(char** argv, const config::AgentOptions& options, const base::StopToken& stop) {
  if (!options.agent.ServesMany()) return RunOne(argv, options, stop);
  const bool has_directory = !options.agent.clusters_from.empty();
  if (has_directory) {
    if (const auto pairs = cmd::ReadClusterPairs(options.agent.clusters_from); !pairs.ok()) {
      base::LogError("the clusters cannot be read", {{"error", pairs.status()}});
      return config::kUsageExitCode;
    }
  }
  absl::StatusOr<cmd::HostingConnections> hosting;
  if (!has_directory) {
    hosting = cmd::ConnectHosting(options);
    if (!hosting.ok()) {
      base::LogError("a kubeconfig cannot be used", {{"error", hosting.status()}});
      return config::kUsageExitCode;
    }
  }
  const absl::Status result = has_directory ? cmd::RunAgentFleet(options, stop)
                                            : cmd::RunHostedFleet(options, *hosting, stop);
  if (result.ok()) return 0;
  base::LogError("karmada-agent ends", {{"error", result}});
  // Threads that outlived the graceful period must not delay the end of the process.
  if (absl::IsDeadlineExceeded(result)) _exit(kFailed);
  return kFailed;
}

}  // namespace

int main(int argc, char** argv) {
  // Declared first, so that a stop during the start works like any other.
  const base::StopSignals signals;
  base::PrepareDaemonProcess();
  config::PermissionFlags permissions;
  const config::ParsedAgent parsed = config::ParseAgentCommandLine(argc, argv, permissions);
  if (parsed.outcome == config::Parsed::Outcome::kExit) {
    (parsed.exit_code == 0 ? std::cout : std::cerr) << parsed.output;
    return parsed.exit_code;
  }
  const config::Options& loops = parsed.options.loops;
  if (permissions.asked) {
    for (const std::string& warning : config::WarningsOf(permissions)) {
      std::cerr << "warning: " << warning << "\n";
    }
    // A misspelt name would leave rights out in silence.
    for (const config::Warning& warning : config::WarningsOfAgentControllers(loops.controllers)) {
      std::cerr << "warning: " << warning.text << "\n";
    }
    std::cout << cmd::AgentPermissions(parsed.options, permissions);
    return 0;
  }
  if (loops.profiling.enabled) profiling::EnableHeapProfiles(argv);
  base::InitLogging(api::kAgent, {loops.logging.verbosity, loops.logging.vmodule,
                                  loops.logging.format == config::LogFormat::kJson});
  if (const auto raised = base::RaiseDescriptorLimit(); !raised.ok()) {
    base::LogWarning("many connections may need more descriptors", {{"error", raised.status()}});
  }
  kube::InitializeHttp();
  LogStart(parsed.options);
  base::StopSource source;
  signals.Watch(
      [source](int signal) mutable {
        base::LogInfo("stopping", {{"signal", signal}});
        base::EndProcessAfter(controllers::kStopLimit, kFailed);
        source.request_stop();
      },
      kFailed);
  const int code = Run(argv, parsed.options, source.get_token());
  return kube::FinishHttp(code);
}
