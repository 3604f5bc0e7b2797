// The identity of a simulated cluster: its certificate authority, its server's certificate, its
// administrator.
#ifndef SANDBOX_CLUSTER_IDENTITY_H_
#define SANDBOX_CLUSTER_IDENTITY_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/tls.h"

namespace sandbox {

struct ClusterIdentity {
  std::shared_ptr<tls::CertificateAuthority> authority;  // Issues certificates of clients.
  std::string ca_pem;
  tls::KeyPair server;  // For 127.0.0.1 and localhost.
  tls::KeyPair admin;   // Group system:masters.
  // For a server without TLS, where the administrator has this token in place of a certificate.
  std::string admin_token;
};
inline constexpr char kAdministrator[] = "kubernetes-admin";
absl::StatusOr<ClusterIdentity> MakeIdentity(const std::string& cluster);

// Returns a kubeconfig for the administrator, with one context, which has the name of the cluster.
std::string AdminKubeconfig(const std::string& cluster, const std::string& url,
                            const ClusterIdentity& identity);

// Returns a kubeconfig for the control plane `plane` with a certificate of the user that the agent
// of the cluster `member` has when `karmadactl register` has registered it.
absl::StatusOr<std::string> AgentKubeconfig(const std::string& plane, const std::string& url,
                                            const ClusterIdentity& identity,
                                            const std::string& member);

// Replaces the file in one step; only its owner can read it. kPermissionDenied and kNotFound name
// the path.
absl::Status WritePrivateFile(const std::string& path, const std::string& contents);

}  // namespace sandbox

#endif  // SANDBOX_CLUSTER_IDENTITY_H_
