// The command-line flags of karmada-agent, with upstream's names, defaults and checks.
#ifndef CONFIG_AGENT_OPTIONS_H_
#define CONFIG_AGENT_OPTIONS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "config/options.h"
#include "config/permission_flags.h"

namespace config {

// The agent's flags about its cluster.
struct AgentFlagValues {
  std::string karmada_kubeconfig, karmada_context;
  // A directory with a folder for each cluster, instead of the flags above and below about one.
  std::string clusters_from;
  // A label selector of Secrets in the hosting cluster, instead of a directory.
  std::string clusters_from_secrets;
  std::string hosting_kubeconfig;
  // The namespace of the Secrets, and of the Leases of this process.
  std::string hosting_namespace = "karmada-system";
  bool shard_clusters = false;
  std::string cluster_name;
  std::string cluster_namespace = "karmada-cluster";
  std::string api_endpoint, proxy_server_address;
  std::string provider, region;
  std::vector<std::string> zones;
  std::vector<std::string> report_secrets = {"KubeCredentials", "KubeImpersonator"};
  absl::Duration lease_duration = absl::Seconds(40);
  double lease_renew_fraction = 0.25;
  // These only with the controller certRotation.
  absl::Duration rotation_interval = absl::Minutes(5);
  double rotation_threshold = 0.2;  // Of a certificate's life.
  std::string karmada_kubeconfig_namespace = "karmada-system";

  bool ServesMany() const { return !clusters_from.empty() || !clusters_from_secrets.empty(); }
  bool Reports(const std::string& secret) const;
};

struct AgentOptions {
  // What the loops read. Its kubeconfig leads to the member.
  Options loops;
  AgentFlagValues agent;
};

struct ParsedAgent {
  Parsed::Outcome outcome = Parsed::Outcome::kRun;
  int exit_code = 0;   // As in Parsed.
  std::string output;  // As in Parsed.
  AgentOptions options;
};

// kInvalidArgument says why a cluster cannot have the name. The rules are upstream's.
absl::Status ValidateClusterName(const std::string& name);

// As ParseCommandLine in options.h.
ParsedAgent ParseAgentCommandLine(int argc, const char* const* argv);
// Does the same, and fills `permissions`. Flags of the agent may follow that command.
ParsedAgent ParseAgentCommandLine(int argc, const char* const* argv, PermissionFlags& permissions);

}  // namespace config

#endif  // CONFIG_AGENT_OPTIONS_H_
