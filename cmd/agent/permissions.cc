#include "cmd/agent/permissions.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/programs.h"
#include "api/resources.h"
#include "cmd/agent/loops.h"
#include "config/support.h"
#include "controllers/permissions/grants.h"
#include "controllers/permissions/member_needs.h"

namespace cmd {
namespace {

using permissions::Grants;
using permissions::Named;
using permissions::Need;
using permissions::On;

constexpr char kRegistration[] = "registration";
// That of `karmadactl register`.
constexpr char kUsualAccount[] = "karmada-system/karmada-agent-sa";
// Loops of the control plane that reach into members by Works, which the agent puts into its own.
const std::set<std::string>& LoopsByWorks() {
  static const auto& loops = *new std::set<std::string>{
      "namespace", "federatedResourceQuotaSync", "multiclusterservice", "endpointsliceDispatch"};
  return loops;
}

Need Of(const char* loop, Grants grants, std::string why = "") {
  return {permissions::Server::kMember, loop, std::move(grants), std::move(why)};
}

std::vector<Need> Registration(const config::AgentFlagValues& agent) {
  const kube::Resource accounts{{"", "v1", "ServiceAccount"}, "serviceaccounts", true};
  std::vector<Need> needs = {Of(kRegistration, {On(api::Namespaces(), {"get", "create"})},
                                "The cluster's identity is the uid of its namespace kube-system.")};
  if (!agent.Reports("KubeCredentials") && !agent.Reports("KubeImpersonator")) return needs;
  const std::string account = absl::StrCat("karmada-", agent.cluster_name);
  needs.push_back(
      Of(kRegistration,
         {On(accounts, {"get", "create"}), On(api::Secrets(), {"create"}),
          Named(On(api::Secrets(), {"get"}), {account, "karmada-impersonator"})},
         "The Secrets have the tokens that are reported; RBAC cannot limit a creation to a name."));
  if (!agent.Reports("KubeCredentials")) return needs;
  const std::string role = absl::StrCat("karmada-controller-manager:", account);
  needs.push_back(Of(kRegistration,
                     {On(api::ClusterRoles(), {"get", "create", "escalate"}),
                      On(api::ClusterRoleBindings(), {"get", "create"}),
                      Named(On(api::ClusterRoles(), {"bind"}), {role})},
                     "The account whose token is reported may do everything, as upstream's; with "
                     "--report-secrets=None or KubeImpersonator there is none."));
  return needs;
}

bool IsNeeded(const Need& need, const config::AgentOptions& options) {
  const config::Options& loops = options.loops;
  if (need.is_asked_for != nullptr && !need.is_asked_for(loops)) return false;
  if (need.loop == permissions::kDiscovery || LoopsByWorks().contains(need.loop)) return true;
  // The control plane gives users access to clusters that have reported an impersonator.
  if (need.loop == "unifiedAuth") return options.agent.Reports("KubeImpersonator");
  return RunsOnAgent(need.loop.c_str(), loops);
}

}  // namespace

std::vector<Need> AgentNeeds(const config::AgentOptions& options) {
  std::vector<Need> needs = Registration(options.agent);
  for (Need& need : permissions::MemberNeeds()) {
    if (IsNeeded(need, options)) needs.push_back(std::move(need));
  }
  if (RunsOnAgent("certRotation", options.loops)) {
    needs.push_back(Of("certRotation",
                       {Named(On(api::Secrets(), {"get", "patch"}), {"karmada-kubeconfig"})},
                       "The kubeconfig of the agent."));
  }
  return needs;
}

std::string AgentPermissions(const config::AgentOptions& options,
                             const config::PermissionFlags& flags) {
  permissions::Role role{.server = permissions::Server::kMember, .name = api::kAgent};
  role.comment =
      "# What karmada-agent may do in its own cluster. Above each rule stand the loops that need "
      "it;\n"
      "# docs/agent.md has the reasons. Give the agent's service account in the binding at the "
      "end.\n";
  role.subject = flags.subject.empty() ? kUsualAccount : flags.subject;
  return permissions::RoleManifest(
      permissions::MergedRules(AgentNeeds(options), {role.server, flags.template_kinds}), role);
}

}  // namespace cmd
