// karmada-sandbox member down NAME, member up NAME: takes one member of a running sandbox away and
// brings it back.
#ifndef CMD_SANDBOX_MEMBERS_H_
#define CMD_SANDBOX_MEMBERS_H_

#include <string>

#include "absl/status/status.h"
#include "cmd/sandbox/options.h"
#include "sandbox/fleet.h"

namespace cmd {

// Carries out "member down NAME" or "member up NAME". A member that is down refuses connections and
// keeps its objects.
absl::Status SteerMember(sandbox::Fleet& fleet, const std::string& request);

// Asks the sandbox that runs in --dir, or else where KUBECONFIG lies, to do so.
absl::Status RunMember(const SandboxOptions& options);

}  // namespace cmd

#endif  // CMD_SANDBOX_MEMBERS_H_
