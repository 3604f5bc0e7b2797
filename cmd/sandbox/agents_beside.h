// The karmada-agents beside the clusters of a sandbox: one for each member in pull mode, with the
// credentials that an agent has in a real member.
#ifndef CMD_SANDBOX_AGENTS_BESIDE_H_
#define CMD_SANDBOX_AGENTS_BESIDE_H_

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cmd/sandbox/daemon.h"
#include "sandbox/fleet.h"

namespace cmd {

// The programs are those that lie beside this one; the destructor ends them. Thread-safe.
class AgentsBeside {
 public:
  // Starts an agent for each member of `fleet` in pull mode. `directory` has the kubeconfigs of the
  // members, and gets those of the agents for the control plane, and their logs. kNotFound when
  // there is no such program.
  static absl::StatusOr<std::unique_ptr<AgentsBeside>> Start(sandbox::Fleet& fleet,
                                                             const std::string& directory);

  // Returns the agent of the member; nullptr when that is not in pull mode.
  Daemon* Of(absl::string_view member) const;

 private:
  AgentsBeside() = default;

  // By the names of their members; never changed after Start.
  std::map<std::string, std::unique_ptr<Daemon>, std::less<>> agents_;
};

}  // namespace cmd

#endif  // CMD_SANDBOX_AGENTS_BESIDE_H_
