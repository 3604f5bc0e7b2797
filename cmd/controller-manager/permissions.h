// What the controller manager has to be allowed to do in the control plane and in members, loop by
// loop. The table here is the only source: the manifests in config/rbac, the tables of
// docs/permissions.md and the answer of `karmada-controller-manager permissions` are made from it.
#ifndef CMD_CONTROLLER_MANAGER_PERMISSIONS_H_
#define CMD_CONTROLLER_MANAGER_PERMISSIONS_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "config/feature_gates.h"
#include "config/options.h"
#include "config/permission_flags.h"

namespace cmd {

enum class Server { kControlPlane, kMember };

// Stands in Grant::resources, alone or before a subresource, for the kinds that users propagate:
// every kind, or those that --template-kinds names.
inline constexpr absl::string_view kTemplates = "<templates>";

// A rule of a ClusterRole before it is merged with others.
struct Grant {
  std::string group;                   // Without meaning for templates and URLs.
  std::vector<std::string> resources;  // Plural, with the subresource: "works/status".
  std::vector<std::string> verbs;
  std::vector<std::string> names;  // Empty: objects of every name.
  std::vector<std::string> urls;   // If there are some, the rule is about these alone.
};

// What one loop does at one kind of server.
struct Need {
  Server server;
  std::string loop;  // As in the table of controllers, or something that always runs.
  std::vector<Grant> grants;
  std::string why = "";  // A sentence for the page, where the rights need a reason.
  std::optional<config::Gate> gate = std::nullopt;  // Without it this is not needed.
  // Returns whether the flags ask for it; nullptr for always.
  bool (*is_asked_for)(const config::Options& options) = nullptr;
};

// The names of what runs whatever --controllers says and is not in the table of controllers.
inline constexpr char kElection[] = "leader election";
inline constexpr char kEvents[] = "events";
inline constexpr char kLeader[] = "leader of a shadow";
inline constexpr char kDiscovery[] = "discovery";
inline constexpr char kInterpreter[] = "interpreter";

// Returns all needs, those of the control plane first.
const std::vector<Need>& Needs();

// Selects needs and says what templates are.
struct PermissionScope {
  Server server = Server::kControlPlane;
  std::vector<std::string> template_kinds;  // As in --template-kinds; empty: every kind.
};

// A rule of a ClusterRole, and the loops because of which it is there.
struct PermissionRule {
  Grant grant;
  std::set<std::string> loops;
};

// Merges the needs of the scope's server: rights that a rule for everything contains are left out,
// and what remains is grouped. The result does not depend on the order of the needs.
std::vector<PermissionRule> MergedRules(const std::vector<Need>& needs,
                                        const PermissionScope& scope);

// Returns the needs that these settings have; with --shadow only rights to read, and to ask for
// reviews.
std::vector<Need> NeedsOf(const config::Options& options);

// Returns a ClusterRole with the rules and a ClusterRoleBinding for the subject as a YAML stream. A
// subject of the control plane is a user, one of a member "namespace/name" of a service account; ""
// is that of the installers and of `karmadactl join` for a cluster named member1. `suffix` ends the
// names of both.
std::string RoleManifest(const std::vector<PermissionRule>& rules, Server server,
                         const std::string& subject, absl::string_view suffix = "");

// Returns what `karmada-controller-manager permissions` prints.
std::string Permissions(const config::Options& options, const config::PermissionFlags& flags);

// Returns the command that prints the role which a user lacks whom the control plane has refused
// with this message; "" for messages that do not say that. A shadow needs another role.
std::string CommandForRights(absl::string_view message, bool is_shadow);

}  // namespace cmd

#endif  // CMD_CONTROLLER_MANAGER_PERMISSIONS_H_
