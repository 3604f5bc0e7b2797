// Remedy (remedy.karmada.io/v1alpha1): actions that clusters need while their conditions match.
#ifndef API_REMEDY_H_
#define API_REMEDY_H_

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/cluster.h"
#include "base/json.h"
#include "kube/meta/object.h"

namespace api {

// Reads one Remedy. The object must outlive the view and stay unchanged.
class RemedyView {
 public:
  explicit RemedyView(const kube::Object& object) : object_(object) {}
  explicit RemedyView(kube::Object&&) = delete;

  // Returns whether it is about the cluster: spec.clusterAffinity names it, or is absent.
  bool Concerns(absl::string_view cluster) const;
  // Returns whether the conditions of the cluster ask for the actions: one of spec.decisionMatches
  // holds, or the field is absent. An item about a condition that the cluster lacks does not hold.
  bool Matches(const ClusterView& cluster) const;
  std::vector<std::string> Actions() const;
  // Returns a sentence for each cluster that is named and does not exist, for
  // message::ClustersAreAbsent.
  std::vector<std::string> AbsentClusters(
      const std::function<bool(absl::string_view)>& exists) const;

 private:
  const kube::Object& object_;
};

// Sets status.remedyActions of a Cluster; without actions the field is removed.
void SetRemedyActions(kube::Object& cluster, const std::set<std::string>& actions);

}  // namespace api

#endif  // API_REMEDY_H_
