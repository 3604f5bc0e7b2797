// FederatedResourceQuota (policy.karmada.io/v1alpha1): what the workloads of a namespace may use in
// all clusters together, and quotas for single clusters.
#ifndef API_FEDERATED_RESOURCE_QUOTA_H_
#define API_FEDERATED_RESOURCE_QUOTA_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "api/resource_list.h"
#include "base/json.h"
#include "kube/meta/object.h"

namespace api {

// An item of status.aggregatedStatus: what a cluster says of the ResourceQuota it got.
struct ClusterQuotaStatus {
  std::string cluster;
  ResourceList hard, used;
};

// Reads one FederatedResourceQuota. The object must outlive the view and stay unchanged.
class FederatedResourceQuotaView {
 public:
  explicit FederatedResourceQuotaView(const kube::Object& object) : object_(object) {}
  explicit FederatedResourceQuotaView(kube::Object&&) = delete;

  // Returns spec.overall, the limits of all clusters together.
  const json::Value& Overall() const { return object_.spec()["overall"]; }
  // Returns whether spec.staticAssignments names the cluster.
  bool IsAssigned(absl::string_view cluster) const;
  // Returns the limits of the first assignment that names the cluster; null when there are none.
  const json::Value& HardFor(absl::string_view cluster) const;
  // Returns a sentence for each assignment whose cluster does not exist, for
  // message::ClustersAreAbsent.
  std::vector<std::string> AbsentClusters(
      const std::function<bool(absl::string_view)>& exists) const;

  const json::Value& OverallUsed() const { return object_.status()["overallUsed"]; }

 private:
  const json::Value& Assignments() const { return object_.spec()["staticAssignments"]; }

  const kube::Object& object_;
};

// Set parts of the status. A quantity whose amount stays the same keeps its text.
void SetAggregatedStatus(kube::Object& quota, absl::Span<const ClusterQuotaStatus> clusters);
void SetOverall(kube::Object& quota, const ResourceList& overall, const ResourceList& used);

// Returns the key of the quota that an object, such as a Work, is made for by its labels; an empty
// key when it has not got both of them.
kube::ObjectKey QuotaOf(const kube::Object& object);
// Returns the labels of a Work of the quota.
json::Value QuotaLabels(const kube::ObjectKey& quota);

}  // namespace api

#endif  // API_FEDERATED_RESOURCE_QUOTA_H_
