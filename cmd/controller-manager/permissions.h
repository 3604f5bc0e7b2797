// What the controller manager has to be allowed to do in the control plane and in members, loop by
// loop: the manifests in config/rbac, the tables of docs/permissions.md and the answer of
// `karmada-controller-manager permissions` are made from the table here and from that of members
// (controllers/permissions).
#ifndef CMD_CONTROLLER_MANAGER_PERMISSIONS_H_
#define CMD_CONTROLLER_MANAGER_PERMISSIONS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "config/options.h"
#include "config/permission_flags.h"
#include "controllers/permissions/rights.h"

namespace cmd {

// The names of what runs whatever --controllers says and is not in the table of controllers, beside
// permissions::kDiscovery.
inline constexpr char kElection[] = "leader election";
inline constexpr char kEvents[] = "events";
inline constexpr char kLeader[] = "leader of a shadow";
inline constexpr char kInterpreter[] = "interpreter";

// Returns all needs, those of the control plane first.
const std::vector<permissions::Need>& Needs();

// Returns the needs that these settings have; with --shadow only rights to read, and to ask for
// reviews.
std::vector<permissions::Need> NeedsOf(const config::Options& options);

// Returns the role for a subject, "" for that of the installers and of `karmadactl join` for a
// cluster named member1. `suffix` ends its name.
permissions::Role RoleFor(permissions::Server server, const std::string& subject,
                          absl::string_view suffix = "");

// Returns what `karmada-controller-manager permissions` prints.
std::string Permissions(const config::Options& options, const config::PermissionFlags& flags);

// Returns the command that prints the role which a user lacks whom the control plane has refused
// with this message; "" for messages that do not say that. A shadow needs another role.
std::string CommandForRights(absl::string_view message, bool is_shadow);

}  // namespace cmd

#endif  // CMD_CONTROLLER_MANAGER_PERMISSIONS_H_
