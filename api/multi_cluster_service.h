// MultiClusterService (networking.karmada.io/v1alpha1): a Service of the same name whose endpoints
// in the provider clusters are made known in the consumer clusters.
#ifndef API_MULTI_CLUSTER_SERVICE_H_
#define API_MULTI_CLUSTER_SERVICE_H_

#include <optional>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "api/cluster.h"
#include "base/json.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace api {

// The two parts that clusters play; a cluster can have both.
enum class ServiceRole { kProvider, kConsumer };

// Reads one MultiClusterService. The object must outlive the view and stay unchanged.
class MultiClusterServiceView {
 public:
  explicit MultiClusterServiceView(const kube::Object& object) : object_(object) {}
  explicit MultiClusterServiceView(kube::Object&&) = delete;

  // Returns the label that the admission webhook sets; "" when it is missing.
  absl::string_view PermanentId() const;
  // Returns whether spec.types has CrossCluster; others are not Karmada's business.
  bool IsCrossCluster() const;
  // Returns the clusters that spec.providerClusters or spec.consumerClusters names; none stand for
  // all clusters. (Upstream ignores the deprecated fields range, serviceProvisionClusters and
  // serviceConsumptionClusters.)
  std::set<std::string> ClustersIn(ServiceRole role) const;
  // Returns whether the cluster is named, or none is.
  bool Means(ServiceRole role, absl::string_view cluster) const;

 private:
  const json::Value& Selectors(ServiceRole role) const;

  const kube::Object& object_;
};

// Returns the MultiClusterService that a Work is made for by its labels: the Work that carries it,
// or one that carries an EndpointSlice. An empty key unless it has both of them.
kube::ObjectKey MultiClusterServiceOf(const kube::Object& work);
// Returns these two labels.
json::Value MultiClusterServiceLabels(const kube::ObjectKey& service);
// Returns whether the Work carries a MultiClusterService, which makes its cluster a provider.
bool CarriesMultiClusterService(const kube::Object& work);

// The claim of a MultiClusterService on its Service and on the binding of that: the annotations
// that name it, and labels by which the detector and the scheduler know that no policy governs
// them. `service` is the MultiClusterService.
//
// Returns the key that the annotations name; an empty one when they are not both there.
kube::ObjectKey ClaimingService(const kube::Object& object);
bool IsClaimedService(const kube::Object& service);
bool IsClaimedBinding(const kube::Object& binding);
// Put the claim on, and take those of policies away.
void ClaimService(const kube::Object& service, kube::Object& target);
void ClaimBinding(const kube::Object& service, kube::Object& binding);
// Take the claim away.
void ReleaseService(kube::Object& target);
void ReleaseBinding(kube::Object& binding);

// What keeps a cluster from taking part in MultiClusterServices.
enum class Unfitness {
  kAbsent,
  kJoining,  // It has not got a Ready condition yet.
  kNotReady,
  kNoEndpointSlices,  // It is known not to serve discovery.k8s.io/v1 EndpointSlices.
};
// Returns nullopt for a cluster that is fit. `cluster` is nullptr when there is none.
std::optional<Unfitness> UnfitnessOf(const kube::Object* cluster);

// Condition types.
inline constexpr char kServiceApplied[] = "ServiceApplied";
inline constexpr char kEndpointSliceDispatched[] = "EndpointSliceDispatched";

namespace reason {

// Reasons of the conditions.
inline constexpr char kServiceAppliedSucceed[] = "ServiceAppliedSucceed";
inline constexpr char kServiceAppliedFailed[] = "ServiceAppliedFailed";
inline constexpr char kEndpointSliceDispatchedSucceed[] = "EndpointSliceDispatchedSucceed";
inline constexpr char kEndpointSliceDispatchedFailed[] = "EndpointSliceDispatchedFailed";
// Reasons of events on MultiClusterServices.
inline constexpr char kSyncServiceSucceed[] = "SyncServiceSucceed";
inline constexpr char kSyncServiceFailed[] = "SyncServiceFailed";
inline constexpr char kDispatchEndpointSliceSucceed[] = "DispatchEndpointSliceSucceed";
inline constexpr char kDispatchEndpointSliceFailed[] = "DispatchEndpointSliceFailed";
absl::string_view ClusterIsUnfit(Unfitness unfitness);

}  // namespace reason

namespace message {

// The messages of the conditions' and events' successes.
inline constexpr char kServicePropagated[] = "Service is propagated to target clusters.";
inline constexpr char kEndpointSlicesDispatched[] = "EndpointSlice are dispatched successfully";
// "Provider cluster m1 is not found" and the like.
std::string ClusterIsUnfit(ServiceRole role, absl::string_view cluster, Unfitness unfitness);
// The messages of a deletion that fails.
std::string ServiceNotReleased(const absl::Status& why);
std::string ServiceWorksNotDeleted(const absl::Status& why);

}  // namespace message
}  // namespace api

#endif  // API_MULTI_CLUSTER_SERVICE_H_
