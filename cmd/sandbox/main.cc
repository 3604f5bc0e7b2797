// karmada-sandbox: a Karmada control plane and member clusters in one process.
#include <signal.h>
#include <unistd.h>

#include <iostream>
#include <thread>

#include "base/log.h"
#include "base/stop_token.h"
#include "cmd/sandbox/demo.h"
#include "cmd/sandbox/members.h"
#include "cmd/sandbox/options.h"
#include "cmd/sandbox/up.h"

namespace {

constexpr int kFailed = 1;
constexpr int kInterrupted = 130;  // The exit code of a second Ctrl-C, as shells count it.

// Turns the first SIGTERM or SIGINT into a stop; the second one ends the process. Every other
// thread has these signals blocked.
void WatchSignals(sigset_t signals, base::StopSource source) {
  int signal = 0;
  sigwait(&signals, &signal);
  source.request_stop();
  sigwait(&signals, &signal);
  _exit(kInterrupted);
}

absl::Status Run(const cmd::SandboxOptions& options, const base::StopToken& stop) {
  using Command = cmd::SandboxOptions::Command;
  if (options.command == Command::kMember) return cmd::RunMember(options);
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
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  base::InitLogging("karmada-sandbox", {});
  base::StopSource source;
  std::thread(WatchSignals, signals, source).detach();

  const absl::Status result = Run(parsed.options, source.get_token());
  if (result.ok()) return 0;
  if (absl::IsCancelled(result)) return kInterrupted;
  std::cerr << "karmada-sandbox: " << result.message() << std::endl;
  return kFailed;
}
