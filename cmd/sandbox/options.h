// The command line of karmada-sandbox.
#ifndef CMD_SANDBOX_OPTIONS_H_
#define CMD_SANDBOX_OPTIONS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "sandbox/fleet.h"

namespace cmd {

struct SandboxOptions {
  enum class Command { kUp, kDemo, kMember, kAgent, kManager, kStatus } command = Command::kUp;
  sandbox::FleetOptions fleet;
  // The directory for kubeconfigs and logs; empty: a new private directory that is removed at the
  // end. For member, agent, manager and status: the directory of the running sandbox; empty: that
  // of KUBECONFIG.
  std::string directory;
  // The program to run as controller manager; "auto": the one beside this program, if any; "off":
  // none.
  std::string controller_manager = "auto";
  // Flags of the controller manager, those behind "--"; the last value of a flag counts.
  std::vector<std::string> manager_flags;
  bool search = false;  // For up: karmada-search runs beside it.
  bool json = false;    // For up and status: print one JSON object instead of text.
  // For demo: the directory of its manifests; empty: those that came with the program.
  std::string samples;
  absl::Duration deadline = absl::Seconds(60);
  std::string member;  // For member and agent: the member's name.
  // For member, agent and manager: "down" or "up"; for member also "join".
  std::string action;
};

struct ParsedCommandLine {
  // Set when there is nothing to run: 0 after help or version, 2 after a usage error.
  std::optional<int> exit_code;
  std::string output;  // The text to print then: on standard output for 0, else on standard error.
  SandboxOptions options;
};
ParsedCommandLine ParseCommandLine(int argc, const char* const* argv);

}  // namespace cmd

#endif  // CMD_SANDBOX_OPTIONS_H_
