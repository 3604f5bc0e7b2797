// What an agent has to be allowed to do in its own cluster: what its loops do there, what the loops
// of the control plane have it put there, and its registration. docs/agent.md, config/rbac and the
// answer of `karmada-agent permissions` are made from it. Its rights in the control plane are those
// that `karmadactl register` makes.
#ifndef CMD_AGENT_PERMISSIONS_H_
#define CMD_AGENT_PERMISSIONS_H_

#include <string>
#include <vector>

#include "config/agent_options.h"
#include "config/permission_flags.h"
#include "controllers/permissions/rights.h"

namespace cmd {

// Returns the needs that these settings have.
std::vector<permissions::Need> AgentNeeds(const config::AgentOptions& options);

// Returns what `karmada-agent permissions` prints.
std::string AgentPermissions(const config::AgentOptions& options,
                             const config::PermissionFlags& flags);

}  // namespace cmd

#endif  // CMD_AGENT_PERMISSIONS_H_
