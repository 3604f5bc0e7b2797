// The clusters whose agent a process is: each has a pair of kubeconfigs, by the cluster's name.
//
// The directory of --clusters-from has a folder for each cluster, named after it:
//
//   edge1/karmada-kubeconfig   leads to the control plane, as the agent of edge1
//   edge1/kubeconfig           leads to the cluster
//
// It may be a volume of Secrets. What begins with a dot is passed over.
#ifndef CMD_AGENT_CLUSTER_PAIRS_H_
#define CMD_AGENT_CLUSTER_PAIRS_H_

#include <cstddef>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cmd {

// The names of files and of keys.
inline constexpr char kKarmadaKubeconfig[] = "karmada-kubeconfig";
inline constexpr char kKubeconfig[] = "kubeconfig";
// One with certificates has some five thousand bytes.
inline constexpr size_t kLongestKubeconfig = 64 << 10;

struct ClusterPair {
  std::string karmada_kubeconfig, kubeconfig;  // Their texts.
  absl::Status usable;                         // Why there is no pair, if there is none.
};
using ClusterPairs = std::map<std::string, ClusterPair>;

// kInvalidArgument when the text is empty or too long. The error names `what`, and not the text.
absl::Status ValidateKubeconfigText(absl::string_view text, absl::string_view what);

// Returns the folders by their names. kNotFound or kUnavailable when the directory itself cannot be
// read: then nothing is known about its clusters.
absl::StatusOr<ClusterPairs> ReadClusterPairs(const std::string& directory);

}  // namespace cmd

#endif  // CMD_AGENT_CLUSTER_PAIRS_H_
