#include "cmd/controller-manager/permissions.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/keys.h"
#include "api/programs.h"
#include "cmd/controller-manager/controller_table.h"
#include "controllers/permissions/member_needs.h"

namespace cmd {
namespace {

using permissions::Grant;
using permissions::Need;
using permissions::Server;

constexpr char kUsualUser[] = "system:karmada:karmada-controller-manager";
constexpr char kUsualAccount[] = "karmada-member1";

// Returns whether objects of the group are reviews alone: they are created to ask something.
bool HasReviewsOnly(const Grant& grant) {
  return grant.group == "authorization.k8s.io" || grant.group == "authentication.k8s.io";
}

// Returns what a shadow needs instead: it reads each object that it does not write.
Need WithoutWrites(Need need) {
  for (Grant& grant : need.grants) {
    if (HasReviewsOnly(grant) || !grant.urls.empty()) continue;
    std::vector<std::string> verbs = {"get"};
    for (const std::string& verb : grant.verbs) {
      if (verb == "list" || verb == "watch") verbs.push_back(verb);
    }
    grant.verbs = std::move(verbs);
  }
  return need;
}

}  // namespace

std::vector<Need> NeedsOf(const config::Options& options) {
  std::set<std::string> running = {permissions::kDiscovery, kInterpreter};
  if (options.shadow) {
    running.insert(kLeader);
  } else {
    running.insert({kElection, kEvents});
  }
  for (const ControllerEntry& entry : ControllerTable()) {
    if (IsWanted(entry, options)) running.insert(entry.name);
  }
  std::vector<Need> needs;
  for (const Need& need : Needs()) {
    if (!running.contains(need.loop)) continue;
    if (need.gate.has_value() && !options.gates.Enabled(*need.gate)) continue;
    if (need.is_asked_for != nullptr && !need.is_asked_for(options)) continue;
    needs.push_back(options.shadow ? WithoutWrites(need) : need);
  }
  return needs;
}

permissions::Role RoleFor(Server server, const std::string& subject, absl::string_view suffix) {
  const bool member = server == Server::kMember;
  permissions::Role role{.server = server, .subject = subject};
  role.name = absl::StrCat(member ? "karmada-member" : api::kControllerManager, suffix);
  role.comment = absl::StrCat(
      "# What karmada-controller-manager may do in ",
      member ? "a member cluster" : "the control plane",
      ". Above each rule stand the loops that need\n# it; docs/permissions.md has the reasons. ",
      member ? "Give the member's service account in the binding at the end.\n"
             : "Give the user of its certificate in the binding at\n# the end.\n");
  if (subject.empty()) {
    role.subject = member ? absl::StrCat(api::kClusterNamespace, "/", kUsualAccount) : kUsualUser;
  }
  return role;
}

std::string Permissions(const config::Options& options, const config::PermissionFlags& flags) {
  const Server server = flags.member ? Server::kMember : Server::kControlPlane;
  return permissions::RoleManifest(
      permissions::MergedRules(NeedsOf(options), {server, flags.template_kinds}),
      RoleFor(server, flags.subject, options.shadow ? "-shadow" : ""));
}

std::string CommandForRights(absl::string_view message, bool is_shadow) {
  constexpr absl::string_view kBefore = " is forbidden: User \"";
  const size_t at = message.find(kBefore);
  if (at == absl::string_view::npos) return "";
  const absl::string_view user = message.substr(at + kBefore.size());
  const size_t end = user.find('"');
  if (end == absl::string_view::npos) return "";
  return absl::StrCat(api::kControllerManager, " permissions", is_shadow ? " --shadow" : "",
                      " --subject=", user.substr(0, end));
}

}  // namespace cmd
