// The directory of --clusters-from: a folder for each cluster, named after it, with two
// kubeconfigs.
//
//   edge1/karmada-kubeconfig   leads to the control plane, as the agent of edge1
//   edge1/kubeconfig           leads to the cluster
//
// It may be a volume of Secrets. What begins with a dot is passed over.
#ifndef CMD_AGENT_CLUSTER_PAIRS_H_
#define CMD_AGENT_CLUSTER_PAIRS_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"

namespace cmd {

struct ClusterPair {
  std::string karmada_kubeconfig, kubeconfig;  // Paths.
  std::string content;  // The text of `kubeconfig`; when it changes, the agent begins again.
  absl::Status usable;  // Why the folder is not a pair, if it is not.
};

// Returns the folders by their names. kNotFound or kUnavailable when the directory itself cannot be
// read: then nothing is known about its clusters.
absl::StatusOr<std::map<std::string, ClusterPair>> ReadClusterPairs(const std::string& directory);

}  // namespace cmd

#endif  // CMD_AGENT_CLUSTER_PAIRS_H_
