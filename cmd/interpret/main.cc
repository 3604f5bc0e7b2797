// karmada-interpret: tests customizations of Karmada's resource interpreter without a cluster.
#include <csignal>
#include <ios>
#include <optional>

#include "absl/synchronization/mutex.h"
#include "base/log.h"
#include "base/tls.h"
#include "cmd/interpret/command.h"
#include "cmd/interpret/console.h"
#include "kube/client/http_transport.h"

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  signal(SIGPIPE, SIG_IGN);  // A reader that has gone shows as a failed write.
  tls::DisableSystemBundlePerConnection();
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  cmd::interpret::CommandLine line(argv[0]);
  line.OnParsed([](std::optional<int> verbosity) {
    base::InitLogging("karmada-interpret", {.verbosity = verbosity.value_or(0),
                                            // For the output of scripts.
                                            .vmodule = "base_library=1",
                                            .only_vmodule = !verbosity.has_value()});
  });
  cmd::interpret::AddAllCommands(line);
  cmd::interpret::Console console = cmd::interpret::StandardConsole();
  const cmd::interpret::ExitCode code = line.Run(argc, argv, console);
  kube::FinishHttp();
  return static_cast<int>(code);
}
