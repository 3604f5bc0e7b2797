// Clusters of Cluster API (cluster.x-k8s.io), and the marks on what the Cluster API detector makes
// of them.
#ifndef API_CLUSTER_API_H_
#define API_CLUSTER_API_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace api {

// The name of the detector's queue in metrics; its events have kClusterApiDetector
// (api/reasons.h) as their source.
inline constexpr char kClusterApiQueue[] = "cluster-api cluster detector";

// Reasons of the detector's events on Clusters. Upstream has none.
namespace reason {
inline constexpr char kJoinClusterSucceed[] = "JoinClusterSucceed";
inline constexpr char kJoinClusterFailed[] = "JoinClusterFailed";
inline constexpr char kUnjoinClusterSucceed[] = "UnjoinClusterSucceed";
inline constexpr char kUnjoinClusterFailed[] = "UnjoinClusterFailed";
}  // namespace reason

// The versions of Cluster API's Cluster in which the fields below are the same.
absl::Span<const kube::Gvk> ClusterApiVersions();

// The fields that the functions below and a deletion need.
std::vector<std::string> ClusterApiFields();

// Returns whether the infrastructure and the API server of the cluster are there, so that it can
// be joined.
bool IsProvisioned(const kube::Object& cluster);

// Returns the Secret of the management cluster that has the kubeconfig of the cluster's
// administrator.
kube::ObjectKey KubeconfigSecretOf(const kube::ObjectKey& cluster);
inline constexpr char kKubeconfigKey[] = "value";

// The longest name of a member cluster: its execution namespace has 15 more characters.
inline constexpr size_t kLongestClusterName = 48;
// kInvalidArgument says why a member cluster cannot have this name (upstream's
// ValidateClusterName).
absl::Status CheckClusterName(absl::string_view name);

// What the detector notes, as annotations, on a Cluster and on the Secrets that it makes.
struct JoinMark {
  // Cluster API's Cluster, from which it was joined; without a name when there is no mark.
  kube::ObjectKey cluster;
  // The uid of the namespace kube-system of the management cluster. "" when a person has made the
  // mark; then nothing below is known either.
  std::string management;
  std::string uid;  // The uid of Cluster API's Cluster.
  // A digest of what Cluster and Secrets took from the kubeconfig.
  std::string connection;

  bool exists() const { return !cluster.name.empty(); }
  bool is_complete() const { return exists() && !management.empty(); }
  // A mark that cannot be read, or that names a cluster of another name than the object's, counts
  // as none. (The Secrets have other names; `name` is that of the member cluster.)
  static JoinMark Of(const kube::Object& object, absl::string_view name);
  void WriteTo(kube::Object& object) const;
  friend bool operator==(const JoinMark&, const JoinMark&) = default;
};

}  // namespace api

#endif  // API_CLUSTER_API_H_
