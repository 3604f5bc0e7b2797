// karmada-sandbox: a Karmada control plane and member clusters in one process.

#include <iostream>

#include "base/log.h"
#include "base/stop_signals.h"
#include "base/stop_token.h"
#include "cmd/sandbox/demo.h"
#include "cmd/sandbox/options.h"
#include "cmd/sandbox/status.h"
#include "cmd/sandbox/steering.h"
#include "cmd/sandbox/up.h"
#include "config/command_line.h"

namespace {

constexpr int kInterrupted = 130;  // The exit code of a second Ctrl-C, as shells count it.

absl::Status Run(const cmd::SandboxOptions& options, const base::StopToken& stop) {
  using Command = cmd::SandboxOptions::Command;
  if (options.command == Command::kMember || options.command == Command::kAgent ||
      options.command == Command::kManager) {
    return cmd::RunSteering(options);
  }
  if (options.command == Command::kStatus) return cmd::RunStatus(options);
  if (options.command == Command::kDemo) return cmd::RunDemo(options, stop);
  return cmd::RunUp(options, stop);
}

}  // namespace

int main(int argc, char** argv) {
  const cmd::ParsedCommandLine parsed = cmd::ParseCommandLine(argc, argv);
  if (parsed.exit_code.has_value()) {
    (*parsed.exit_code == 0 ? std::cout : std::cerr) << parsed.output;
    return *parsed.exit_code;
  }
  const base::StopSignals signals;
  base::InitLogging("karmada-sandbox", {});
  base::StopSource source;
  signals.Watch([source](int) mutable { source.request_stop(); }, kInterrupted);

  const absl::Status result = Run(parsed.options, source.get_token());
  if (result.ok()) return 0;
  if (absl::IsCancelled(result)) return kInterrupted;
  std::cerr << "karmada-sandbox: " << result.message() << std::endl;
  return config::ExitCodeFor(result);
}
