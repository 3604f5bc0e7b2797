// The command `permissions` of karmada-controller-manager and its flags.
#ifndef CONFIG_PERMISSION_FLAGS_H_
#define CONFIG_PERMISSION_FLAGS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "config/admission_flags.h"
#include "config/options.h"

namespace CLI {
class App;
}

namespace config {

struct PermissionFlags {
  bool asked = false;  // The command was given: print the rights and end.
  // Those in members, not those in the control plane; an agent prints no others.
  bool member = false;
  std::vector<std::string> template_kinds;  // "deployments.apps", "configmaps"; empty: every kind.
  std::string subject;                      // "" for the usual one.
};

// Does what ParseCommandLine in options.h does, and fills `admission` and `permissions`. Flags of
// the daemon may follow the command.
Parsed ParseCommandLine(int argc, const char* const* argv, AdmissionFlags& admission,
                        PermissionFlags& permissions);

// Returns a sentence for each of --template-kinds that names a well-known resource in a group that
// does not have it, such as deployments without .apps: the role would not allow what it is for.
std::vector<std::string> WarningsOf(const PermissionFlags& flags);

namespace internal {

void AddPermissions(CLI::App& app, PermissionFlags& flags);
// Does the same for a program that only prints the rights in its member.
void AddMemberPermissions(CLI::App& app, PermissionFlags& flags);
// kInvalidArgument names the flag and the value that cannot be.
absl::Status ValidatePermissions(const PermissionFlags& flags);

}  // namespace internal
}  // namespace config

#endif  // CONFIG_PERMISSION_FLAGS_H_
