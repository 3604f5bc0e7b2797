// What a member can do to others by the EndpointSlices that it exports, and the agent of a pull
// cluster by the Works that it writes: no more than choose the endpoints of the Services that are
// asked of it.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "controllers/imported_slices/imported_slice.h"
#include "controllers/imported_slices/imported_slice_reconciler.h"
#include "controllers/multi_cluster_service/endpoint_slice_dispatch_reconciler.h"
#include "tests/controllers/multi_cluster_service_fixture.h"

namespace tests {
namespace {

// A slice whose metadata tries to pass for something else.
kube::Object HostileSlice(const std::string& name = "web-abc") {
  kube::Object slice = Slice(name);
  slice.SetLabel(api::kSliceManagedByLabel, "endpointslice-controller.k8s.io");
  slice.SetLabel("endpointslice.karmada.io/name", "db");
  slice.SetLabel(api::kMultiClusterServiceNameLabel, "db");
  slice.SetLabel(api::kManagedLabel, "true");
  slice.SetLabel(api::kWorkIdLabel, "id-of-another");
  slice.SetLabel("propagationpolicy.karmada.io/permanent-id", "policy");
  slice.SetLabel("app", "victim");
  slice.SetAnnotation(api::kWorkNamespaceAnnotation, "karmada-es-m2");
  slice.SetAnnotation(api::kWorkNameAnnotation, "another");
  slice.SetAnnotation(api::kProvisionClusterAnnotation, "m2");
  slice.SetAnnotation("work.karmada.io/conflict-resolution", "overwrite");
  slice.Set({"metadata", "ownerReferences"}, Json(R"([{"apiVersion": "v1", "kind": "Service",
      "name": "db", "uid": "u", "controller": true}])"));
  slice.Set({"metadata", "finalizers"}, Json(R"(["never/goes"])"));
  slice.Set({"metadata", "deletionTimestamp"}, "2026-01-01T00:00:00Z");
  return slice;
}

struct Dispatching : MultiClusterServiceFixture {
  controllers::EndpointSliceDispatchReconciler reconciler{*manager};

  void Pass(const std::string& provider, const std::string& slice = "web-abc") {
    clock.Advance(controllers::kDispatchPause);
    const auto action =
        reconciler.Reconcile({.key = works::WorkOfSlice(provider, {"shop", slice})}, {});
    INFO(action.status());
    REQUIRE(action.ok());
    Settle(api::Works());
    Settle(api::MultiClusterServices());
  }
  kube::Object SliceIn(const std::string& cluster, const std::string& name = "web-abc") const {
    return kube::Object(SliceWorkIn(cluster, name).Get({"spec", "workload", "manifests"}).At(0));
  }
  bool IsDispatchedTo(const std::string& cluster, const std::string& name = "web-abc") const {
    const kube::Object work = SliceWorkIn(cluster, name);
    return !work.empty() && !work.IsDeleting();
  }
  void PutServices(const std::vector<std::string>& providers) {
    kube::Object service = MultiClusterService();
    json::Value list = json::Value::Array();
    for (const std::string& name : providers) list.Append(json::Value::Object({{"name", name}}));
    service.Set({"spec", "providerClusters"}, std::move(list));
    PutCached(api::MultiClusterServices(), service);
  }
};

struct Importing : LoopsFixture {
  Importing() {
    Sync({api::Works(), api::EndpointSlices()});
    informers.Get(api::Works())
        ->AddIndex(works::kWorksByCollectedService, works::CollectedServices);
    informers.Get(api::EndpointSlices())
        ->AddIndex(controllers::kImportedByWork, controllers::ImportedIndexValues);
    Make();
  }
  kube::Object Collect(const std::string& member, const kube::Object& slice) {
    works::CollectedSlices collected(cluster);
    REQUIRE(collected.Report(member, slice, api::SliceCollector::kServiceExport, {}).ok());
    return server->Find(api::Works(), works::WorkOfSlice(member, slice.key()));
  }
  void Import(const kube::Object& work) {
    REQUIRE(Shows(api::Works(), work));
    REQUIRE(controllers::ImportedSliceReconciler(*manager).Reconcile({.key = work.key()}, {}).ok());
  }
};

TEST_CASE_METHOD(Importing, "of a hostile slice only the endpoints come to the control plane") {
  const kube::Object work = Collect("m1", HostileSlice());
  // What the loops read of the Work is not what the slice says.
  CHECK(work.labels() == Json(R"({"endpointslice.karmada.io/namespace": "shop",
      "endpointslice.karmada.io/name": "web",
      "endpointslice.karmada.io/managed-by": "ServiceExport"})"));
  CHECK(work.annotations().empty());
  CHECK(work.OwnerRefs().empty());
  CHECK(work.spec()["suspendDispatching"].AsBool());
  Import(work);
  const kube::Object slice = server->Find(api::EndpointSlices(), {"shop", "imported-m1-web-abc"});
  CHECK(slice.labels() == Json(R"({"kubernetes.io/service-name": "derived-web",
      "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.karmada.io"})"));
  CHECK(slice.annotations() == json::Value::Object({{"work.karmada.io/namespace", work.ns()},
                                                    {"work.karmada.io/name", work.name()}}));
  CHECK(slice.OwnerRefs().empty());
  CHECK_FALSE(slice.metadata().Has("finalizers"));
  CHECK_FALSE(slice.IsDeleting());
  CHECK(slice.root()["endpoints"] == Slice().root()["endpoints"]);
}

TEST_CASE_METHOD(Importing, "a slice of the same name in another member is another Work") {
  const kube::Object first = Collect("m1", Slice());
  Collect("m2", HostileSlice());
  CHECK(server->Find(api::Works(), first.key()) == first);
}

TEST_CASE_METHOD(Importing, "a Work cannot bring a slice into another namespace than its labels") {
  kube::Object work = Collect("m1", Slice());
  Import(work);
  REQUIRE_FALSE(server->Find(api::EndpointSlices(), {"shop", "imported-m1-web-abc"}).empty());
  json::Value manifest = work.Get({"spec", "workload", "manifests"}).At(0);
  manifest.Set({"metadata", "namespace"}, "kube-system");
  work.Set({"spec", "workload", "manifests"}, json::Value::Array({manifest}));
  Import(PutCached(api::Works(), work));
  CHECK(server->All(api::EndpointSlices()).empty());
  REQUIRE(recorded->All().size() == 1);
  CHECK(
      absl::StrContains(recorded->All()[0],
                        "failed: EndpointSlice kube-system/web-abc is not of namespace \"shop\""));
}

TEST_CASE_METHOD(Dispatching, "of a hostile slice only the endpoints go to consumers") {
  PutServices({"m1"});
  kube::Object hostile = HostileSlice();
  Collect("m1", hostile);
  Pass("m1");
  const kube::Object work = SliceWorkIn("m2");
  CHECK(work.labels() == Json(R"({"multiclusterservice.karmada.io/namespace": "shop",
                                  "multiclusterservice.karmada.io/name": "web"})"));
  const kube::Object slice = SliceIn("m2");
  CHECK(slice.Describe() == "EndpointSlice shop/m1-web-abc");
  CHECK(slice.labels() == Json(R"({"kubernetes.io/service-name": "web",
      "endpointslice.kubernetes.io/managed-by": "endpointslice-dispatch-controller.karmada.io",
      "karmada.io/managed": "true"})"));
  CHECK(slice.Annotation(api::kProvisionClusterAnnotation) == "m1");
  CHECK(slice.Annotation(api::kWorkNameAnnotation) == work.name());
  CHECK(slice.Annotation("work.karmada.io/conflict-resolution").empty());
  CHECK(slice.OwnerRefs().empty());
  CHECK_FALSE(slice.metadata().Has("finalizers"));
  CHECK_FALSE(slice.IsDeleting());
}

TEST_CASE_METHOD(Dispatching, "a cluster that does not provide the service dispatches nothing") {
  PutServices({"m1"});
  Collect("m3");  // As the agent of a pull cluster could.
  Collect("m1");
  Pass("m1");
  CHECK(absl::StartsWith(ConditionIs(api::kEndpointSliceDispatched), "True"));
  const size_t before = Writes();
  Pass("m3");
  CHECK(Writes() == before);
  CHECK(SliceIn("m2").name() == "m1-web-abc");
  SECTION("and what it has dispatched goes when it provides no more") {
    PutServices({"m3"});
    Pass("m1");
    CHECK_FALSE(IsDispatchedTo("m2"));
    EraseCached(api::Works(), SliceWorkIn("m2").key());
    Pass("m3");
    CHECK(SliceIn("m2").name() == "m3-web-abc");
  }
}

TEST_CASE_METHOD(Dispatching, "a Work cannot dispatch a slice into another namespace") {
  PutServices({"m1"});
  kube::Object work = Collect("m1");
  Pass("m1");
  REQUIRE(IsDispatchedTo("m2"));
  json::Value manifest = work.Get({"spec", "workload", "manifests"}).At(0);
  manifest.Set({"metadata", "namespace"}, "kube-system");
  work.Set({"spec", "workload", "manifests"}, json::Value::Array({manifest}));
  PutCached(api::Works(), work);
  Pass("m1");
  CHECK_FALSE(IsDispatchedTo("m2"));
  CHECK(absl::StrContains(ConditionIs(api::kEndpointSliceDispatched),
                          "carries EndpointSlice kube-system/web-abc, which is not of the "
                          "namespace of Service shop/web"));
}

TEST_CASE_METHOD(Dispatching, "a provider cannot take the place of another one's slice") {
  Join("m1-a");
  PutServices({"m1", "m1-a"});
  Collect("m1-a", Slice("web-abc", 2));
  Pass("m1-a");
  const kube::Object first = SliceWorkIn("m2");
  REQUIRE(SliceIn("m2").name() == "m1-a-web-abc");
  Collect("m1", HostileSlice("a-web-abc"));
  Pass("m1", "a-web-abc");
  CHECK_FALSE(IsDispatchedTo("m2", "a-web-abc"));
  CHECK(SliceWorkIn("m2") == first);
  CHECK(absl::StrContains(ConditionIs(api::kEndpointSliceDispatched),
                          "puts EndpointSlice shop/m1-a-web-abc there already"));
  SECTION("it gets it when the other one has gone") {
    server->Erase(api::Works(), first.key());
    Settle(api::Works());
    Pass("m1", "a-web-abc");
    CHECK(SliceIn("m2", "a-web-abc").name() == "m1-a-web-abc");
  }
  SECTION("of two that found the place empty the older one keeps it") {
    kube::Object second = first;
    second.Set({"metadata", "name"}, works::WorkOfSlice("m2", {"shop", "a-web-abc"}).name);
    second.Set({"metadata", "creationTimestamp"}, "2999-01-01T00:00:00Z");
    second.SetAnnotation(api::kProvisionClusterAnnotation, "m1");
    second.Erase({"metadata", "uid"});
    PutCached(api::Works(), second);
    Pass("m1", "a-web-abc");
    CHECK_FALSE(IsDispatchedTo("m2", "a-web-abc"));
    CHECK(SliceWorkIn("m2") == first);
  }
}

}  // namespace
}  // namespace tests
