// Fixtures for tests of the loops around MultiClusterServices: clusters m1 to m3, a Service
// "shop/web" and its MultiClusterService.
#ifndef TESTS_CONTROLLERS_MULTI_CLUSTER_SERVICE_FIXTURE_H_
#define TESTS_CONTROLLERS_MULTI_CLUSTER_SERVICE_FIXTURE_H_

#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "api/endpoint_slice.h"
#include "api/multi_cluster_service.h"
#include "api/names.h"
#include "controllers/multi_cluster_service/dispatched_slices.h"
#include "controllers/multi_cluster_service/endpoint_slice_dispatch_reconciler.h"
#include "controllers/multi_cluster_service/multi_cluster_service_reconciler.h"
#include "tests/support/loops_fixture.h"
#include "works/collected_slices.h"

namespace tests {

inline const kube::ObjectKey kShopWeb = {"shop", "web"};
inline constexpr char kFromM1ToM2[] =
    R"("providerClusters": [{"name": "m1"}], "consumerClusters": [{"name": "m2"}])";

inline kube::Object MultiClusterService(const std::string& spec = kFromM1ToM2,
                                        const std::string& type = "CrossCluster") {
  kube::Object service = kube::Object::Make(api::MultiClusterServices().gvk, kShopWeb);
  service.SetLabel(api::kMultiClusterServiceIdLabel, "mcs-id");
  service.Set({"spec"}, Json(absl::StrCat(R"({"types": [")", type, "\"]", spec.empty() ? "" : ",",
                                          spec, "}")));
  return service;
}

inline kube::Object ShopService() {
  kube::Object service = kube::Object::Make(api::Services().gvk, kShopWeb);
  service.Set({"spec"}, Json(R"({"ports": [{"port": 80}]})"));
  return service;
}

// `ready` "" stands for a cluster that has just joined.
inline kube::Object MemberCluster(const std::string& name, const std::string& ready = "True") {
  kube::Object cluster = kube::Object::Make(api::Clusters().gvk, {"", name});
  if (ready.empty()) return cluster;
  cluster.Set({"status", "conditions"},
              Json(absl::StrCat(R"([{"type": "Ready", "status": ")", ready, "\"}]")));
  return cluster;
}

// Returns a slice of the Service "web" with so many endpoints.
inline kube::Object Slice(const std::string& name = "web-abc", int endpoints = 1) {
  kube::Object slice = kube::Object::Make(api::EndpointSlices().gvk, {"shop", name});
  slice.SetLabel(api::kServiceNameLabel, kShopWeb.name);
  slice.SetLabel("app", "web");
  slice.Set({"addressType"}, "IPv4");
  json::Value list = json::Value::Array();
  for (int i = 0; i < endpoints; ++i) {
    const std::string address = absl::StrCat("10.1.", i / 250, ".", i % 250);
    list.Append(json::Value::Object({{"addresses", json::Value::Array({address})}}));
  }
  slice.Set({"endpoints"}, std::move(list));
  return slice;
}

struct MultiClusterServiceFixture : LoopsFixture {
  MultiClusterServiceFixture() {
    Sync({api::MultiClusterServices(), api::Services(), api::Clusters(), api::Namespaces(),
          api::Works(), api::ResourceBindings()});
    const auto work_informer = informers.Get(api::Works());
    work_informer->AddIndex(controllers::kWorksByMultiClusterService,
                            controllers::MultiClusterServiceIndexValues);
    work_informer->AddIndex(works::kWorksByCollectedService, works::CollectedServices);
    work_informer->AddIndex(controllers::kWorksBySlice, controllers::SliceIndexValues);
    work_informer->AddIndex(controllers::kWorksByPlace, controllers::PlaceIndexValues);
    informers.Get(api::MultiClusterServices())
        ->AddIndex(controllers::kServicesByDispatch, controllers::DispatchIndexValues);
    for (const char* name : {"m1", "m2", "m3"}) Join(name);
    Make();
  }
  void Join(const std::string& name, const std::string& ready = "True") {
    const kube::ObjectKey space = {"", api::ExecutionNamespace(name)};
    PutCached(api::Namespaces(), kube::Object::Make(api::Namespaces().gvk, space));
    PutCached(api::Clusters(), MemberCluster(name, ready));
  }
  void EraseCached(const kube::Resource& resource, const kube::ObjectKey& key) {
    server->Erase(resource, key);
    REQUIRE(Eventually([&] { return informers.Get(resource)->store().Find(key) == nullptr; }));
  }
  // Waits until the cache shows what the server has.
  void Settle(const kube::Resource& resource) {
    for (const kube::Object& object : server->All(resource)) REQUIRE(Shows(resource, object));
    REQUIRE(Eventually([&] {
      return informers.Get(resource)->store().List().size() == server->All(resource).size();
    }));
  }
  void SettleAll() {
    for (const kube::Resource& resource :
         {api::Works(), api::Services(), api::ResourceBindings(), api::MultiClusterServices()}) {
      Settle(resource);
    }
  }

  kube::Object PutService() { return PutCached(api::Services(), ShopService()); }
  kube::Object Found() const { return server->Find(api::MultiClusterServices(), kShopWeb); }
  std::string ConditionIs(const char* type) const {
    const json::Value* condition = kube::FindCondition(Found().status()["conditions"], type);
    if (condition == nullptr) return "";
    return absl::StrCat((*condition)["status"].AsString(), " ", (*condition)["reason"].AsString(),
                        ": ", (*condition)["message"].AsString());
  }
  // The Work that carries the service, and the ones that carry the slice `name`.
  kube::Object ServiceWorkIn(const std::string& cluster) const {
    return server->Find(api::Works(), {api::ExecutionNamespace(cluster),
                                       api::WorkName("MultiClusterService", "web", "shop")});
  }
  kube::Object SliceWorkIn(const std::string& cluster, const std::string& name = "web-abc") const {
    return server->Find(api::Works(), works::WorkOfSlice(cluster, {"shop", name}));
  }
  // Collects the slice in the cluster, as the collecting loop does.
  kube::Object Collect(const std::string& cluster_name, const kube::Object& slice = Slice()) {
    works::CollectedSlices collected(cluster);
    const auto written =
        collected.Report(cluster_name, slice, api::SliceCollector::kMultiClusterService, {});
    INFO(written.status());
    REQUIRE(written.ok());
    const kube::Object work = SliceWorkIn(cluster_name, std::string(slice.name()));
    REQUIRE(Shows(api::Works(), work));
    return work;
  }
  size_t Writes() const {
    return server->Requests("PATCH").size() + server->Requests("POST").size() +
           server->Requests("DELETE").size();
  }
};

}  // namespace tests

#endif  // TESTS_CONTROLLERS_MULTI_CLUSTER_SERVICE_FIXTURE_H_
