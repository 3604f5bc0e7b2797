#include "api/multi_cluster_service.h"

#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "api/absent_clusters.h"
#include "api/endpoint_slice.h"
#include "api/keys.h"
#include "api/resources.h"
#include "api/service_import.h"

namespace api {
namespace {

json::Value Json(absl::string_view text) {
  auto value = json::Parse(text);
  INFO(text);
  REQUIRE(value.ok());
  return *std::move(value);
}

kube::Object Service(const std::string& spec) {
  kube::Object service = kube::Object::Make(MultiClusterServices().gvk, {"shop", "web"});
  service.SetLabel(kMultiClusterServiceIdLabel, "id");
  service.Set({"spec"}, Json(spec));
  return service;
}

kube::Object Cluster(const std::string& status) {
  kube::Object cluster = kube::Object::Make(Clusters().gvk, {"", "m1"});
  cluster.Set({"status"}, Json(status));
  return cluster;
}

constexpr char kSlices[] =
    R"("apiEnablements": [{"groupVersion": "discovery.k8s.io/v1",
                           "resources": [{"kind": "EndpointSlice"}]}])";

std::string Conditions(const std::string& ready, const std::string& complete) {
  return absl::StrCat(R"("conditions": [{"type": "Ready", "status": ")", ready,
                      R"("}, {"type": "CompleteAPIEnablements", "status": ")", complete, "\"}]");
}

}  // namespace

TEST_CASE("a service means the clusters that it names, or all of them") {
  const kube::Object service = Service(R"({"types": ["CrossCluster"],
      "providerClusters": [{"name": "m2"}, {"name": "m1"}, {"name": "m2"}]})");
  const MultiClusterServiceView view(service);
  CHECK(view.IsCrossCluster());
  CHECK(view.PermanentId() == "id");
  CHECK(view.ClustersIn(ServiceRole::kProvider) == std::set<std::string>{"m1", "m2"});
  CHECK(view.Means(ServiceRole::kProvider, "m1"));
  CHECK_FALSE(view.Means(ServiceRole::kProvider, "m3"));
  CHECK(view.ClustersIn(ServiceRole::kConsumer).empty());
  CHECK(view.Means(ServiceRole::kConsumer, "m3"));

  const kube::Object other = Service(R"({"types": ["LoadBalancer"]})");
  CHECK_FALSE(MultiClusterServiceView(other).IsCrossCluster());
  const kube::Object empty = Service("{}");
  CHECK_FALSE(MultiClusterServiceView(empty).IsCrossCluster());
}

TEST_CASE("a claim replaces those of policies and can be taken away without a trace") {
  const kube::Object service = Service("{}");
  kube::Object target = kube::Object::Make(Services().gvk, {"shop", "web"});
  target.SetLabel("app", "web");
  const kube::Object before = target;
  target.SetLabel(kPropagationPolicyIdLabel, "p");
  target.SetAnnotation(kPropagationPolicyNameAnnotation, "p");
  target.SetAnnotation(kPropagationPolicyNamespaceAnnotation, "shop");
  target.SetLabel(kClusterPropagationPolicyIdLabel, "c");
  target.SetAnnotation(kClusterPropagationPolicyNameAnnotation, "c");
  CHECK_FALSE(IsClaimedService(target));

  ClaimService(service, target);
  CHECK(IsClaimedService(target));
  CHECK(target.labels() == Json(R"({"app": "web",
      "resourcetemplate.karmada.io/claimed-by": "MultiClusterService",
      "multiclusterservice.karmada.io/permanent-id": "id"})"));
  CHECK(target.annotations() == Json(R"({"multiclusterservice.karmada.io/name": "web",
      "multiclusterservice.karmada.io/namespace": "shop"})"));
  CHECK(ClaimingService(target) == service.key());
  ReleaseService(target);
  CHECK(target == before);
  CHECK(ClaimingService(target).name.empty());

  kube::Object binding = kube::Object::Make(ResourceBindings().gvk, {"shop", "web-service"});
  const kube::Object unclaimed = binding;
  ClaimBinding(service, binding);
  CHECK(IsClaimedBinding(binding));
  CHECK(binding.labels() == Json(R"({"binding.karmada.io/managed-by": "MultiClusterService",
      "multiclusterservice.karmada.io/permanent-id": "id"})"));
  ReleaseBinding(binding);
  CHECK(binding == unclaimed);
}

TEST_CASE("Works name the service they are made for") {
  kube::Object work = kube::Object::Make(Works().gvk, {"karmada-es-m1", "w"});
  CHECK(MultiClusterServiceOf(work).name.empty());
  CHECK_FALSE(CarriesMultiClusterService(work));
  work.Set({"metadata", "labels"}, MultiClusterServiceLabels({"shop", "web"}));
  CHECK(MultiClusterServiceOf(work) == kube::ObjectKey{"shop", "web"});
  work.Set({"spec", "workload", "manifests"}, json::Value::Array({Service("{}").root()}));
  CHECK(CarriesMultiClusterService(work));
}

TEST_CASE("a cluster is fit when it is ready and is not known to lack EndpointSlices") {
  CHECK(UnfitnessOf(nullptr) == Unfitness::kAbsent);
  const auto of = [](const std::string& status) {
    const kube::Object cluster = Cluster(status);
    return UnfitnessOf(&cluster);
  };
  CHECK(of("{}") == Unfitness::kJoining);
  CHECK(of(absl::StrCat("{", Conditions("False", "True"), ",", kSlices, "}")) ==
        Unfitness::kNotReady);
  CHECK(of(absl::StrCat("{", Conditions("Unknown", "True"), "}")) == Unfitness::kNotReady);
  CHECK(of(absl::StrCat("{", Conditions("True", "True"), "}")) == Unfitness::kNoEndpointSlices);
  CHECK(of(absl::StrCat("{", Conditions("True", "False"), "}")) == std::nullopt);
  CHECK(of(absl::StrCat("{", Conditions("True", "True"), ",", kSlices, "}")) == std::nullopt);
}

TEST_CASE("what is said about unfit clusters is what upstream says") {
  using message::ClusterIsUnfit;
  CHECK(ClusterIsUnfit(ServiceRole::kProvider, "m1", Unfitness::kAbsent) ==
        "Provider cluster m1 is not found");
  CHECK(ClusterIsUnfit(ServiceRole::kProvider, "m1", Unfitness::kNotReady) ==
        "Provider cluster m1 is not ready, skip to propagate MultiClusterService");
  CHECK(ClusterIsUnfit(ServiceRole::kConsumer, "m1", Unfitness::kNotReady) ==
        "Consumer cluster m1 is not ready, skip to propagate EndpointSlice");
  CHECK(ClusterIsUnfit(ServiceRole::kConsumer, "m1", Unfitness::kNoEndpointSlices) ==
        "Consumer cluster m1 does not support EndpointSlice");
  CHECK(reason::ClusterIsUnfit(Unfitness::kAbsent) == "ClusterNotFound");
  CHECK(reason::ClusterIsUnfit(Unfitness::kNotReady) == "SyncServiceFailed");
  CHECK(reason::ClusterIsUnfit(Unfitness::kNoEndpointSlices) == "APIIncompatible");
}

TEST_CASE("an import's ports are those of a Service, as a server completes them") {
  kube::Object import = kube::Object::Make(ServiceImports().gvk, {"shop", "db"});
  import.Set({"spec"}, Json(R"({"type": "ClusterSetIP", "ips": ["10.0.0.1"],
      "ports": [{"port": 80}, {"name": "q", "port": 53, "protocol": "UDP", "appProtocol": "dns"}]})"));
  const ServiceImportView view(import);
  CHECK(view.IsClusterSetIp());
  CHECK(view.Ips() == std::vector<std::string>{"10.0.0.1"});
  CHECK(view.ServicePorts() == Json(R"([{"protocol": "TCP", "port": 80, "targetPort": 80},
                 {"name": "q", "appProtocol": "dns", "protocol": "UDP", "port": 53,
                  "targetPort": 53}])"));
  import.Set({"spec", "type"}, "Headless");
  CHECK_FALSE(ServiceImportView(import).IsClusterSetIp());
}

TEST_CASE("only a Service that an import owns is that of the import") {
  CHECK(DerivedServiceOf({"shop", "db"}) == kube::ObjectKey{"shop", "derived-db"});
  kube::Object service = kube::Object::Make(Services().gvk, {"shop", "derived-db"});
  CHECK(ServiceImportOf(service).name.empty());
  service.Set({"metadata", "ownerReferences"},
              Json(R"([{"apiVersion": "apps/v1", "kind": "Deployment", "name": "db", "uid": "1"},
                       {"apiVersion": "multicluster.x-k8s.io/v1alpha1", "kind": "ServiceImport",
                        "name": "db", "uid": "2"}])"));
  CHECK(ServiceImportOf(service) == kube::ObjectKey{"shop", "db"});
  service.Set({"metadata", "name"}, "other");
  CHECK(ServiceImportOf(service).name.empty());
}

}  // namespace api
