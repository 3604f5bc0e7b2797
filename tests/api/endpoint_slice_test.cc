#include "api/endpoint_slice.h"

#include <catch2/catch.hpp>
#include <string>

#include "api/keys.h"
#include "api/resources.h"
#include "tests/support/members_fixture.h"

namespace {

using api::SliceCollector;
using tests::Json;
using tests::Parse;

kube::Object CollectedWork(const std::string& labels) {
  kube::Object work = kube::Object::Make(api::Works().gvk, {"karmada-es-m1", "web-1"});
  work.Set({"metadata", "labels"}, Json(labels));
  work.Set({"spec", "suspendDispatching"}, true);
  work.Set({"spec", "workload", "manifests"}, Json(R"([{"apiVersion": "discovery.k8s.io/v1",
      "kind": "EndpointSlice", "metadata": {"name": "web-abc", "namespace": "shop"}}])"));
  return work;
}

std::string Collectors(const std::string& labels) {
  return api::JoinedCollectors(api::CollectorsOf(CollectedWork(labels)));
}

}  // namespace

TEST_CASE("a slice belongs to the Service that its label names") {
  kube::Object slice = kube::Object::Make(api::EndpointSlices().gvk, {"shop", "web-abc"});
  CHECK(api::EndpointSliceView(slice).Service().name.empty());
  slice.SetLabel("kubernetes.io/service-name", "web");
  CHECK(api::EndpointSliceView(slice).Service() == kube::ObjectKey{"shop", "web"});
}

TEST_CASE("slices that Karmada has made are recognized by who manages them") {
  kube::Object slice = kube::Object::Make(api::EndpointSlices().gvk, {"shop", "web-abc"});
  const auto is_ours = [&](const char* manager) {
    slice.SetLabel("endpointslice.kubernetes.io/managed-by", manager);
    return api::EndpointSliceView(slice).IsManagedByKarmada();
  };
  CHECK_FALSE(api::EndpointSliceView(slice).IsManagedByKarmada());
  CHECK_FALSE(is_ours("endpointslice-controller.k8s.io"));
  CHECK(is_ours("endpointslice-controller.karmada.io"));
  CHECK(is_ours("endpointslice-dispatch-controller.karmada.io"));
}

TEST_CASE("slices and Services of other clusters have upstream's names") {
  CHECK(api::ImportedSliceName("member1", "web-abc") == "imported-member1-web-abc");
  CHECK(api::DispatchedSliceName("member1", "web-abc") == "member1-web-abc");
  CHECK(api::DerivedServiceName("web") == "derived-web");
}

TEST_CASE("a Work says by a label who has collected its slice, in any order") {
  CHECK(Collectors(R"({"endpointslice.karmada.io/managed-by": "ServiceExport"})") ==
        "ServiceExport");
  CHECK(Collectors(
            R"({"endpointslice.karmada.io/managed-by": "ServiceExport.MultiClusterService"})") ==
        "MultiClusterService.ServiceExport");
  CHECK(Collectors(R"({"endpointslice.karmada.io/managed-by": "SomeoneElse.ServiceExport"})") ==
        "ServiceExport.SomeoneElse");
  const kube::Object work =
      CollectedWork(R"({"endpointslice.karmada.io/managed-by": "MultiClusterService"})");
  CHECK(api::IsCollectedBy(work, SliceCollector::kMultiClusterService));
  CHECK_FALSE(api::IsCollectedBy(work, SliceCollector::kServiceExport));
}

TEST_CASE("without that label the Services for which the Work was made say it") {
  CHECK(Collectors(R"({"endpointslice.karmada.io/managed-by": "",
                       "endpointslice.karmada.io/name": "web"})") == "ServiceExport");
  CHECK(Collectors(R"({"endpointslice.karmada.io/managed-by": ".",
                       "multiclusterservice.karmada.io/name": "web"})") == "MultiClusterService");
  CHECK(Collectors(R"({"app": "web"})").empty());
}

TEST_CASE(
    "only a Work that is not dispatched, and comes from its own cluster, is a collected one") {
  const std::string labels = R"({"endpointslice.karmada.io/managed-by": "ServiceExport"})";
  CHECK(api::IsCollectedSlice(CollectedWork(labels)));
  CHECK(api::SliceOf(CollectedWork(labels)) == kube::ObjectKey{"shop", "web-abc"});
  kube::Object work = CollectedWork(labels);
  SECTION("dispatched from another cluster") {
    work.SetAnnotation("endpointslice.karmada.io/provision-cluster", "m2");
  }
  SECTION("put into the cluster") { work.Set({"spec", "suspendDispatching"}, false); }
  SECTION("of something else") {
    work.Set({"spec", "workload", "manifests"},
             Json(R"([{"apiVersion": "networking.karmada.io/v1alpha1",
                       "kind": "MultiClusterService", "metadata": {"name": "web"}}])"));
  }
  SECTION("of nobody") { work = CollectedWork("{}"); }
  CHECK_FALSE(api::IsCollectedSlice(work));
  CHECK_FALSE(api::IsCollectedBy(work, SliceCollector::kServiceExport));
}

TEST_CASE("each collector names its Service with labels of its own") {
  const kube::Object work = CollectedWork(R"({"endpointslice.karmada.io/namespace": "shop",
      "endpointslice.karmada.io/name": "web"})");
  CHECK(api::CollectedServiceOf(work, SliceCollector::kServiceExport) ==
        kube::ObjectKey{"shop", "web"});
  CHECK(api::CollectedServiceOf(work, SliceCollector::kMultiClusterService).name.empty());
}
