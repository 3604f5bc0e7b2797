// Reads MultiClusterServices, and puts their claim on the Service and the binding that they
// propagate. A claim has two halves that are written together: the annotations and the id label
// name the MultiClusterService, and one further label says that such an object and not a policy
// governs the target (it has one name on Services and another one on bindings). A claim by a policy
// is removed at the same time, since an object with both would be governed twice. Either half may
// be missing on objects that users or an older program wrote: readers then see no claim.

#include "api/multi_cluster_service.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "api/absent_clusters.h"
#include "api/endpoint_slice.h"
#include "api/keys.h"
#include "api/policy_scope.h"
#include "api/resources.h"
#include "api/work.h"

namespace api {
namespace {

constexpr char kCrossCluster[] = "CrossCluster";

// Half a name names nothing: without one of its parts the key is empty.
kube::ObjectKey KeyOf(absl::string_view ns, absl::string_view name) {
  if (ns.empty() || name.empty()) return {};
  return {std::string(ns), std::string(name)};
}

// The id label tells this MultiClusterService from an earlier one of the same name.
void Annotate(const kube::Object& service, kube::Object& target) {
  target.SetAnnotation(kMultiClusterServiceNameLabel, service.name());
  target.SetAnnotation(kMultiClusterServiceNamespaceLabel, service.ns());
  target.SetLabel(kMultiClusterServiceIdLabel, MultiClusterServiceView(service).PermanentId());
  policy_scope::Namespaced::Unclaim(target);
  policy_scope::Cluster::Unclaim(target);
}

void Unannotate(kube::Object& target) {
  target.EraseAnnotation(kMultiClusterServiceNameLabel);
  target.EraseAnnotation(kMultiClusterServiceNamespaceLabel);
  target.EraseLabel(kMultiClusterServiceIdLabel);
}

}  // namespace

absl::string_view MultiClusterServiceView::PermanentId() const {
  return object_.Label(kMultiClusterServiceIdLabel);
}

bool MultiClusterServiceView::IsCrossCluster() const {
  const auto types = object_.spec()["types"].items();
  return std::any_of(types.begin(), types.end(),
                     [](const json::Value& type) { return type.AsString() == kCrossCluster; });
}

const json::Value& MultiClusterServiceView::Selectors(ServiceRole role) const {
  return object_.spec()[role == ServiceRole::kProvider ? "providerClusters" : "consumerClusters"];
}

std::set<std::string> MultiClusterServiceView::ClustersIn(ServiceRole role) const {
  std::set<std::string> names;
  for (const json::Value& selector : Selectors(role).items()) {
    names.insert(selector["name"].ToString());
  }
  return names;
}

bool MultiClusterServiceView::Means(ServiceRole role, absl::string_view cluster) const {
  const auto selectors = Selectors(role).items();
  return selectors.empty() ||
         std::any_of(selectors.begin(), selectors.end(), [&](const json::Value& selector) {
           return selector["name"].AsString() == cluster;
         });
}

kube::ObjectKey MultiClusterServiceOf(const kube::Object& work) {
  return KeyOf(work.Label(kMultiClusterServiceNamespaceLabel),
               work.Label(kMultiClusterServiceNameLabel));
}

json::Value MultiClusterServiceLabels(const kube::ObjectKey& service) {
  return json::Value::Object({{kMultiClusterServiceNamespaceLabel, service.ns},
                              {kMultiClusterServiceNameLabel, service.name}});
}

bool CarriesMultiClusterService(const kube::Object& work) {
  const absl::Span<const json::Value> manifests = WorkView(work).Manifests();
  return std::any_of(manifests.begin(), manifests.end(), [](const json::Value& manifest) {
    return kube::Object(manifest).gvk() == MultiClusterServices().gvk;
  });
}

kube::ObjectKey ClaimingService(const kube::Object& object) {
  return KeyOf(object.Annotation(kMultiClusterServiceNamespaceLabel),
               object.Annotation(kMultiClusterServiceNameLabel));
}

bool IsClaimedService(const kube::Object& service) {
  return service.Label(kClaimedByLabel) == MultiClusterServices().gvk.kind;
}

bool IsClaimedBinding(const kube::Object& binding) {
  return binding.Label(kBindingManagedByLabel) == MultiClusterServices().gvk.kind;
}

void ClaimService(const kube::Object& service, kube::Object& target) {
  Annotate(service, target);
  target.SetLabel(kClaimedByLabel, MultiClusterServices().gvk.kind);
}

void ClaimBinding(const kube::Object& service, kube::Object& binding) {
  Annotate(service, binding);
  binding.SetLabel(kBindingManagedByLabel, MultiClusterServices().gvk.kind);
}

void ReleaseService(kube::Object& target) {
  Unannotate(target);
  target.EraseLabel(kClaimedByLabel);
}

void ReleaseBinding(kube::Object& binding) {
  Unannotate(binding);
  binding.EraseLabel(kBindingManagedByLabel);
}

std::optional<Unfitness> UnfitnessOf(const kube::Object* cluster) {
  if (cluster == nullptr) return Unfitness::kAbsent;
  const ClusterView view(*cluster);
  if (view.ReadyStatus().empty()) return Unfitness::kJoining;
  if (!view.IsReady()) return Unfitness::kNotReady;
  // A list that is not complete proves nothing.
  if (!view.HasApi(EndpointSlices().gvk) &&
      kube::IsConditionTrue(view.Conditions(), kCompleteApiEnablements)) {
    return Unfitness::kNoEndpointSlices;
  }
  return std::nullopt;
}

// Upstream has one reason for "not ready" and for "not looked at yet".
absl::string_view reason::ClusterIsUnfit(Unfitness unfitness) {
  if (unfitness == Unfitness::kAbsent) return kClusterNotFound;
  return unfitness == Unfitness::kNoEndpointSlices ? kApiIncompatible : kSyncServiceFailed;
}

std::string message::ClusterIsUnfit(ServiceRole role, absl::string_view cluster,
                                    Unfitness unfitness) {
  const bool provides = role == ServiceRole::kProvider;
  const std::string which = absl::StrCat(provides ? "Provider" : "Consumer", " cluster ", cluster);
  if (unfitness == Unfitness::kAbsent) return absl::StrCat(which, " is not found");
  if (unfitness == Unfitness::kNoEndpointSlices) {
    return absl::StrCat(which, " does not support EndpointSlice");
  }
  return absl::StrCat(which, " is not ready, skip to propagate ",
                      provides ? "MultiClusterService" : "EndpointSlice");
}

std::string message::ServiceNotReleased(const absl::Status& why) {
  return absl::StrCat("failed to delete service work :", why.message());
}

std::string message::ServiceWorksNotDeleted(const absl::Status& why) {
  return absl::StrCat("failed to delete MultiClusterService work :", why.message());
}

}  // namespace api
