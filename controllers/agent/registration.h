// The registration of a cluster of mode Pull by its own agent.
#ifndef CONTROLLERS_AGENT_REGISTRATION_H_
#define CONTROLLERS_AGENT_REGISTRATION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "api/keys.h"
#include "base/stop_token.h"
#include "kube/client/client.h"

namespace controllers {

// What an agent says of its cluster.
struct OwnCluster {
  std::string name;
  // Where the Secrets are in the control plane, and the accounts in the member.
  std::string secret_namespace = api::kClusterNamespace;
  // Which tokens the control plane gets: that by which it reaches the member, and that by which it
  // passes users on.
  bool reports_credentials = true;
  bool reports_impersonator = true;
  std::string api_endpoint;
  std::string proxy_url;
  bool insecure_skip_tls_verify = false;
  // The cluster has the address of the control plane, and is reached in the same way.
  bool has_address_of_control_plane = false;
  // What is empty stays as it is in the Cluster.
  std::string provider, region;
  std::vector<std::string> zones;
};

struct RegistrationClients {
  kube::Client& control_plane;
  kube::Client& member;
};

// Registers the cluster, or brings its registration up to date, as upstream's agent does at its
// start: the accounts in the member, the namespace of the Secrets, the Secrets, the Cluster, and
// the Cluster as the owner of the Secrets. What is right is not written. What others have set on
// the Cluster stays. Returns the identity of the cluster, which the Cluster has as spec.id.
//
// kFailedPrecondition when the member is the control plane itself: the uid of its namespace
// kube-system is the same, or, where the control plane does not say, its address. Nothing has
// been written then. kAlreadyExists, in upstream's words, when another cluster is registered under
// the name, or the member under another name. Tokens that have changed in the member are reported
// again, which upstream's agent leaves to the administrator.
absl::StatusOr<std::string> RegisterOwnCluster(const OwnCluster& own,
                                               const RegistrationClients& clients,
                                               const base::StopToken& stop);

}  // namespace controllers

#endif  // CONTROLLERS_AGENT_REGISTRATION_H_
