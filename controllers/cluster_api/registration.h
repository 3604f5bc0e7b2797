// What a join makes in the control plane: the Cluster and the Secrets with its credentials.
#ifndef CONTROLLERS_CLUSTER_API_REGISTRATION_H_
#define CONTROLLERS_CLUSTER_API_REGISTRATION_H_

#include <string>

#include "absl/status/status.h"
#include "api/cluster_api.h"
#include "base/stop_token.h"
#include "controllers/context/member_accounts.h"
#include "kube/cache/cluster_client.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "kube/meta/object.h"

namespace controllers {

// The content of one registration.
struct Registration {
  std::string name;
  std::string id;  // The member's MemberId.
  const kube::ConnectionConfig& config;
  MemberCredentials credentials;
  api::JoinMark mark;
};

// Returns a digest of what a Cluster and its Secrets take from a kubeconfig: server, authority,
// proxy and whether the certificate is verified. Credentials do not count, since they are needed
// for the join alone.
std::string ConnectionDigest(const kube::ConnectionConfig& config);

// Reads and writes the control plane. Reads are from the cache: of Clusters and Secrets.
class Registrations {
 public:
  // REQUIRES: `cluster` outlives this object.
  explicit Registrations(kube::ClusterClient& cluster) : client_(cluster) {}

  // Returns whether nothing is missing: the Cluster names two Secrets that exist, have tokens and
  // belong to it.
  bool IsComplete(const kube::Object& cluster) const;
  // Returns the name of another Cluster with this spec.id; "" when there is none.
  std::string OtherWithId(const std::string& id, const std::string& name) const;

  // Creates or completes what belongs to the registration, in upstream's order: namespace, Secrets,
  // Cluster, owners of the Secrets. `cluster` is the Cluster if it exists, else nullptr.
  // kFailedPrecondition when a Secret of that name belongs to something else.
  absl::Status Write(const Registration& wanted, const kube::ObjectPtr& cluster,
                     const base::StopToken& stop);

  // Deletes the Secrets of a join that ended before it had made its Cluster. `mark` of them
  // decides.
  absl::Status RemoveLeftovers(const std::string& name, const api::JoinMark& mark,
                               const base::StopToken& stop);
  // Returns the mark of such Secrets; none when there are none.
  api::JoinMark LeftoversOf(const std::string& name) const;

 private:
  absl::Status EnsureNamespace(const base::StopToken& stop);
  absl::StatusOr<kube::ObjectPtr> WriteSecret(const kube::ObjectKey& key, json::Value data,
                                              const Registration& wanted,
                                              const base::StopToken& stop);
  absl::StatusOr<kube::ObjectPtr> WriteCluster(const Registration& wanted,
                                               const kube::ObjectPtr& cluster,
                                               const base::StopToken& stop);
  absl::Status SetOwner(const kube::ObjectPtr& secret, const kube::Object& cluster,
                        const base::StopToken& stop);

  kube::ClusterClient& client_;
};

}  // namespace controllers

#endif  // CONTROLLERS_CLUSTER_API_REGISTRATION_H_
