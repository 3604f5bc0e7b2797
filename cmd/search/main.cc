// karmada-search: one cache of all member clusters, as an aggregated API server.

#include <iostream>
#include <memory>
#include <string>

#include "api/programs.h"
#include "base/daemon_process.h"
#include "base/descriptors.h"
#include "base/log.h"
#include "base/stop_limit.h"
#include "base/stop_signals.h"
#include "base/stop_token.h"
#include "cmd/search/connections.h"
#include "cmd/search/options.h"
#include "cmd/search/server.h"
#include "config/command_line.h"
#include "config/served/release_watch.h"
#include "config/version.h"
#include "kube/http/http_transport.h"

namespace {

constexpr int kFailed = 1;

void LogStart(const cmd::SearchOptions& options) {
  const config::BuildInfo build = config::Build();
  base::LogInfo(
      "karmada-search starts",
      {{"version", build.version}, {"commit", build.commit}, {"flags", options.changed_flags}});
  for (const std::string& warning : options.warnings) base::LogWarning(warning);
}

// Runs until it is stopped; returns the exit code. `argv` is that of the process.
int Run(char** argv, const cmd::SearchOptions& options, const base::StopToken& stop) {
  const absl::StatusOr<cmd::Connections> connections = cmd::Connect(options);
  if (!connections.ok()) {
    base::LogError("the kubeconfig of the Karmada control plane cannot be used",
                   {{"error", connections.status()}});
    return config::kUsageExitCode;
  }
  auto server = cmd::SearchServer::Start(options, *connections, stop);
  if (server.ok()) {
    const absl::Status ended = (*server)->Run(stop);
    // A stop meanwhile is for the process, whatever it behaves as.
    if (!config::IsOtherRelease(ended) || stop.stop_requested()) return 0;
    server->reset();
    config::BeginAgain(argv, ended);
    return kFailed;
  }
  // A stop during the start is not a failure either.
  if (stop.stop_requested() && absl::IsCancelled(server.status())) return 0;
  base::LogError("karmada-search cannot start", {{"error", server.status()}});
  return config::ExitCodeFor(server.status());
}

}  // namespace

int main(int argc, char** argv) {
  // Declared first, so that a stop during the start works like any other.
  const base::StopSignals signals;
  base::PrepareDaemonProcess();
  const cmd::ParsedSearchFlags parsed = cmd::ParseSearchFlags(argc, argv);
  if (parsed.exit_code.has_value()) {
    (*parsed.exit_code == 0 ? std::cout : std::cerr) << parsed.output;
    return *parsed.exit_code;
  }
  const config::Logging& logging = parsed.options.logging;
  base::InitLogging(api::kSearch, {logging.verbosity, logging.vmodule,
                                   logging.format == config::LogFormat::kJson});
  if (const auto raised = base::RaiseDescriptorLimit(); !raised.ok()) {
    base::LogWarning("many members may need more descriptors", {{"error", raised.status()}});
  }
  kube::InitializeHttp();
  LogStart(parsed.options);
  base::StopSource source;
  signals.Watch(
      [source, limit = cmd::StopLimit(parsed.options.serving)](int signal) mutable {
        base::LogInfo("stopping", {{"signal", signal}});
        base::EndProcessAfter(limit, kFailed);
        source.request_stop();
      },
      kFailed);
  const int code = Run(argv, parsed.options, source.get_token());
  return kube::FinishHttp(code);
}
