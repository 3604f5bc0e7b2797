// karmada-controller-manager: the controllers of a Karmada control plane.

#include <unistd.h>

#include <atomic>
#include <cstdlib>
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
#include "cmd/controller-manager/daemon.h"
#include "cmd/controller-manager/permissions.h"
#include "cmd/controller-manager/shadow_report.h"
#include "config/admission_flags.h"
#include "config/command_line.h"
#include "config/options.h"
#include "config/permission_flags.h"
#include "config/served/release_watch.h"
#include "config/shadow_flags.h"
#include "config/support.h"
#include "config/version.h"
#include "controllers/process/loop_parts.h"
#include "kube/http/http_transport.h"

namespace {

// The exit codes are upstream's, except for wrong flags and an unusable kubeconfig
// (config::kUsageExitCode).
constexpr int kFailed = 1;

// On the first signal, requests a stop and limits its time.
void WatchSignals(const base::StopSignals& signals, base::StopSource source) {
  signals.Watch(
      [source](int signal) mutable {
        base::LogInfo("stopping", {{"signal", signal}});
        base::EndProcessAfter(controllers::kStopLimit, kFailed);
        source.request_stop();
      },
      kFailed);
}

void LogStart(const config::Options& options) {
  const config::BuildInfo build = config::Build();
  base::LogInfo("karmada-controller-manager starts", {{"version", build.version},
                                                      {"commit", build.commit},
                                                      {"flags", options.changed_flags},
                                                      {"gates", options.gates.Changed()}});
  for (const config::Warning& warning : options.warnings) base::LogWarning(warning.text);
}

// Runs until it is stopped; returns the exit code. `argv` is that of the process.
int Run(char** argv, const config::Options& options, const config::AdmissionFlags& admission,
        const config::ShadowFlags& shadow, base::StopSource stop_source) {
  const base::StopToken stop = stop_source.get_token();
  if (const absl::Status usable = cmd::BeginReport(shadow.report); !usable.ok()) {
    base::LogError("the report of the shadow cannot be written", {{"error", usable}});
    return config::kUsageExitCode;
  }
  const absl::StatusOr<cmd::Connection> connection = cmd::Connect(options);
  if (!connection.ok()) {
    base::LogError("the kubeconfig of the Karmada control plane cannot be used",
                   {{"error", connection.status()}});
    return config::kUsageExitCode;
  }
  if (const absl::Status usable = cmd::CheckClusterApi(options); !usable.ok()) {
    base::LogError("the kubeconfig of Cluster API's management cluster cannot be used",
                   {{"error", usable}});
    return config::kUsageExitCode;
  }
  // A shadow that is stopped before its verdict must not look like one that has found nothing.
  std::atomic<int> code = shadow.report.empty() ? 0 : cmd::kShadowUndecided;
  std::atomic<bool> reported = false;
  const auto end = [&](int exit_code) {
    code = exit_code;
    reported = true;
    base::EndProcessAfter(controllers::kStopLimit, exit_code);
    stop_source.request_stop();
  };
  const absl::Status result = cmd::RunDaemon(options, admission, {shadow, end}, *connection, stop);
  // A stop during the start is not a failure either. Standard output has no report then.
  if (result.ok() || (stop.stop_requested() && absl::IsCancelled(result))) {
    if (shadow.report == "-" && !reported) {
      cmd::WriteReport(shadow.report, cmd::FirstReport()).IgnoreError();
    }
    return code;
  }
  if (config::IsOtherRelease(result)) {
    // A stop meanwhile is for the process, whatever it behaves as.
    if (stop.stop_requested()) return 0;
    config::BeginAgain(argv, result);
  }
  base::LogError("karmada-controller-manager ends", {{"error", result}});
  const std::string rights = cmd::CommandForRights(result.message(), options.shadow);
  if (!rights.empty()) {
    base::LogWarning(
        "its user lacks rights; this command, with the other flags of this process, prints the "
        "role that it needs",
        {{"command", rights}});
  }
  // Threads that outlived the graceful period must not delay the end of the process.
  if (absl::IsDeadlineExceeded(result)) _exit(kFailed);
  return kFailed;
}

}  // namespace

int main(int argc, char** argv) {
  // Declared first, so that a stop during the start works like any other.
  const base::StopSignals signals;
  base::PrepareDaemonProcess();
  config::AdmissionFlags admission;
  config::PermissionFlags permissions;
  config::ShadowFlags shadow;
  const config::Parsed parsed =
      config::ParseCommandLine(argc, argv, admission, permissions, shadow);
  if (parsed.outcome == config::Parsed::Outcome::kExit) {
    (parsed.exit_code == 0 ? std::cout : std::cerr) << parsed.output;
    return parsed.exit_code;
  }
  if (permissions.asked) {
    for (const std::string& warning : config::WarningsOf(permissions)) {
      std::cerr << "warning: " << warning << "\n";
    }
    // A misspelt name would leave rights out in silence.
    for (const config::Warning& warning :
         config::WarningsOfControllers(parsed.options.controllers)) {
      std::cerr << "warning: " << warning.text << "\n";
    }
    std::cout << cmd::Permissions(parsed.options, permissions);
    return 0;
  }

  if (parsed.options.profiling.enabled) profiling::EnableHeapProfiles(argv);
  const config::Logging& logging = parsed.options.logging;
  base::InitLogging(api::kControllerManager, {logging.verbosity, logging.vmodule,
                                              logging.format == config::LogFormat::kJson});
  if (const auto raised = base::RaiseDescriptorLimit(); !raised.ok()) {
    base::LogWarning("many members may need more descriptors", {{"error", raised.status()}});
  }
  kube::InitializeHttp();
  LogStart(parsed.options);
  base::StopSource source;
  WatchSignals(signals, source);
  const int code = Run(argv, parsed.options, admission, shadow, source);
  return kube::FinishHttp(code);
}
