// Clusters that a policy names and that do not exist: a misspelt name is one that no object
// reaches.
#ifndef API_ABSENT_CLUSTERS_H_
#define API_ABSENT_CLUSTERS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "kube/meta/object.h"

namespace api {

// Returns a sentence for each name in the placement of a policy of either scope that is not a
// cluster's, each name once: "there is no cluster m9, which
// spec.placement.clusterAffinity.clusterNames names". Names that are to be left out do not count.
std::vector<std::string> AbsentClusters(const kube::Object& policy,
                                        const std::function<bool(absl::string_view)>& exists);

namespace reason {

inline constexpr char kClusterNotFound[] = "ClusterNotFound";

}  // namespace reason

namespace message {

// `absent` is what AbsentClusters returns, and not empty. Of many the first ones are named.
std::string ClustersAreAbsent(const std::vector<std::string>& absent);

}  // namespace message
}  // namespace api

#endif  // API_ABSENT_CLUSTERS_H_
