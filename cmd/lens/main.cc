// karmada-lens: shows what happens, and why, to a template on its way to the members.

#include <csignal>
#include <ios>
#include <optional>

#include "absl/synchronization/mutex.h"
#include "base/log.h"
#include "base/tls.h"
#include "cmd/lens/all_commands.h"
#include "kube/http/http_transport.h"
#include "tool/command.h"
#include "tool/console.h"

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  signal(SIGPIPE, SIG_IGN);  // A reader that has ended shows as a failed write.
  tls::DisableSystemBundlePerConnection();
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  tool::CommandLine line(cmd::lens::ThisProgram(), argv[0]);
  line.OnParsed([](std::optional<int> verbosity) {
    base::InitLogging("karmada-lens", {.verbosity = verbosity.value_or(0),
                                       // Without -v nothing of the log is wanted.
                                       .vmodule = "no_such_file=1",
                                       .only_vmodule = !verbosity.has_value()});
  });
  cmd::lens::AddAllCommands(line);
  tool::Console console = tool::StandardConsole();
  const int code = line.Run(argc, argv, console);
  return kube::FinishHttp(code);
}
