// What loops have to be allowed to do, and the roles that follow from it. The tables of needs are
// the only source: manifests, pages and the answers of the command `permissions` are made from
// them.
#ifndef CONTROLLERS_PERMISSIONS_RIGHTS_H_
#define CONTROLLERS_PERMISSIONS_RIGHTS_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "config/feature_gates.h"
#include "config/options.h"

namespace permissions {

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
  std::string loop;  // A name of the table of controllers, or of what always runs.
  std::vector<Grant> grants;
  std::string why = "";  // A sentence for the page, where the rights need a reason.
  std::optional<config::Gate> gate = std::nullopt;  // Without it this is not needed.
  // Returns whether the flags ask for it; nullptr for always.
  bool (*is_asked_for)(const config::Options& options) = nullptr;
};

// Selects needs and says what templates are.
struct PermissionScope {
  Server server = Server::kControlPlane;
  std::vector<std::string> template_kinds;  // Those of --template-kinds; every kind when empty.
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

// Says for whom a role is.
struct Role {
  Server server = Server::kControlPlane;
  std::string name;     // The name of the ClusterRole and of its binding.
  std::string comment;  // What stands above the rules: lines that begin with "# ".
  // A user of the control plane, or "namespace/name" of a service account in a member.
  std::string subject;
};

// Returns a ClusterRole with the rules and a ClusterRoleBinding for the subject as a YAML stream.
std::string RoleManifest(const std::vector<PermissionRule>& rules, const Role& role);

}  // namespace permissions

#endif  // CONTROLLERS_PERMISSIONS_RIGHTS_H_
