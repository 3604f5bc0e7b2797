#include "cmd/sandbox/agents_beside.h"

#include <unistd.h>

#include <vector>

#include "absl/strings/str_cat.h"
#include "api/programs.h"
#include "base/status.h"
#include "cmd/sandbox/session.h"
#include "sandbox/cluster_identity.h"

namespace cmd {
namespace {

// It has its cluster to itself, so that it needs no leader election, and works at once when it is
// started again.
std::vector<std::string> Arguments(const std::string& member, const std::string& url,
                                   const std::string& karmada_kubeconfig,
                                   const std::string& kubeconfig) {
  return {absl::StrCat("--cluster-name=", member),
          "--karmada-kubeconfig",
          karmada_kubeconfig,
          "--kubeconfig",
          kubeconfig,
          absl::StrCat("--cluster-api-endpoint=", url),
          "--leader-elect=false",
          "--metrics-bind-address=0",
          "--health-probe-bind-address=0"};
}

}  // namespace

absl::StatusOr<std::unique_ptr<AgentsBeside>> AgentsBeside::Start(sandbox::Fleet& fleet,
                                                                  const std::string& directory) {
  const std::string program = absl::StrCat(ProgramDirectory(), "/", api::kAgent);
  if (access(program.c_str(), X_OK) != 0) {
    return absl::NotFoundError(absl::StrCat("--pull-members: ", program, " cannot be run"));
  }
  std::unique_ptr<AgentsBeside> agents(new AgentsBeside);
  for (const std::string& member : fleet.member_names()) {
    if (!fleet.IsPull(member)) continue;
    const std::string path = absl::StrCat(directory, "/", api::kAgent, "-", member),
                      kubeconfig = absl::StrCat(path, ".kubeconfig");
    ASSIGN_OR_RETURN(const std::string text, fleet.AgentKubeconfig(member));
    RETURN_IF_ERROR(sandbox::WritePrivateFile(kubeconfig, text));
    auto agent =
        std::make_unique<Daemon>(Arguments(member, fleet.member(member)->url(), kubeconfig,
                                           absl::StrCat(directory, "/", member, ".kubeconfig")),
                                 absl::StrCat(path, ".log"));
    RETURN_IF_ERROR(agent->Start(program));
    agents->agents_[member] = std::move(agent);
  }
  return agents;
}

Daemon* AgentsBeside::Of(absl::string_view member) const {
  const auto found = agents_.find(member);
  return found == agents_.end() ? nullptr : found->second.get();
}

}  // namespace cmd
