// ClusterAffinity: which clusters a placement, an override rule or a weight rule means.
#ifndef API_CLUSTER_AFFINITY_H_
#define API_CLUSTER_AFFINITY_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "api/cluster.h"
#include "base/json.h"
#include "kube/meta/selector.h"

namespace api {

// A parsed policy/v1alpha1 ClusterAffinity. Every criterion that is present must hold; an empty
// affinity matches every cluster. A malformed selector matches none, as in upstream's
// util.ClusterMatches.
class ClusterAffinity {
 public:
  // Null is an empty affinity.
  static ClusterAffinity FromJson(const json::Value& affinity);

  bool Matches(const ClusterView& cluster) const;
  // The clusters that clusterNames lists, as written; empty when any name will do.
  const std::vector<std::string>& names() const { return names_; }
  // What is wrong with a selector that matches no cluster because it is malformed; else OK.
  const absl::Status& error() const { return error_; }

 private:
  struct ZoneRule {
    std::string op;
    std::vector<std::string> values;
    bool Matches(const std::vector<std::string>& zones) const;
  };

  void AddFieldRules(const json::Value& expressions);

  std::vector<std::string> names_;  // Empty: any name.
  std::vector<std::string> excluded_;
  kube::LabelSelector labels_;
  kube::LabelSelector fields_;  // Over provider and region.
  std::vector<ZoneRule> zones_;
  absl::Status error_;
};

// The affinities of a placement: a cluster that none of them matches is never chosen. They are its
// clusterAffinity (an empty one when it has none), or all its clusterAffinities, which are tried in
// order, with what they overflow into.
std::vector<ClusterAffinity> AffinitiesOf(const json::Value& placement);

}  // namespace api

#endif  // API_CLUSTER_AFFINITY_H_
