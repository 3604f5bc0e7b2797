// Finds out how to reach a member: from its Cluster object and the Secret that it names.
#ifndef CMD_CONTROLLER_MANAGER_CLUSTER_CONFIG_SOURCE_H_
#define CMD_CONTROLLER_MANAGER_CLUSTER_CONFIG_SOURCE_H_

#include <string>

#include "absl/status/statusor.h"
#include "kube/cache/cluster_client.h"
#include "kube/runtime/cluster_set.h"

namespace cmd {

class ClusterConfigSource : public kube::ClusterConfigSource {
 public:
  // REQUIRES: `control_plane` outlives the source.
  explicit ClusterConfigSource(kube::ClusterClient& control_plane) : client_(control_plane) {}

  // Errors name the cluster and the field or secret at fault, never a secret's value.
  absl::StatusOr<kube::ConnectionConfig> ConfigFor(const std::string& cluster) override;

 private:
  kube::ClusterClient& client_;
};

}  // namespace cmd

#endif  // CMD_CONTROLLER_MANAGER_CLUSTER_CONFIG_SOURCE_H_
