// What only the collector for ServiceExports does.
#include <string>

#include "absl/strings/match.h"
#include "controllers/slice_collection/slice_demand.h"
#include "tests/controllers/slice_collection_fixture.h"

namespace {

using api::SliceCollector;
using tests::Eventually;

constexpr SliceCollector kExport = SliceCollector::kServiceExport;

struct Fixture : tests::SliceCollectionFixture {
  void Begin() {
    Collect(kExport);
    Start();
  }
  void Restart() { SliceCollectionFixture::Restart(kExport); }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "slices are collected from the export on, and until it goes") {
  PutAskingWork(api::ServiceExports());
  PutSlice("web-a");
  Begin();
  REQUIRE(InTime([&] { return Watches(api::ServiceExports()) == 1; }));
  CHECK(Stays([&] { return Writes() == 0; }));
  PutExport();
  CHECK(InTime([&] { return HasWork("web-a"); }));
  m1.Erase(api::ServiceExports(), {"shop", "web"});
  CHECK(InTime([&] { return !HasWork("web-a"); }));
}

TEST_CASE_METHOD(Fixture,
                 "an export without slices, and one of a Service without ports, are fine") {
  PutAskingWork(api::ServiceExports());
  PutExport();
  kube::Object headless = Slice("web-a");
  headless.Set({"endpoints"}, json::Value());
  headless.Set({"ports"}, json::Value());
  Begin();
  REQUIRE(InTime([&] { return Watches(api::ServiceExports()) == 1; }));
  CHECK(Stays([&] { return Writes() == 0; }));
  m1.Put(api::EndpointSlices(), headless);
  CHECK(InTime([&] { return HasWork("web-a"); }));
  CHECK(Stays([&] { return Writes() == 1; }));
  CHECK(recorded->All().empty());
}

TEST_CASE_METHOD(Fixture, "a Work of a ServiceExport that was not applied asks for nothing") {
  PutAskingWork(api::ServiceExports());
  kube::Object work = server->Find(api::Works(), AskingWork(api::ServiceExports()));
  CHECK(controllers::DemandedService(work, kExport) == kube::ObjectKey{"shop", "web"});
  work.Set({"status", "conditions"}, tests::Json(R"([{"type": "Applied", "status": "False"}])"));
  CHECK(controllers::DemandedService(work, kExport).name.empty());
  PutCached(api::Works(), work);
  Begin();
  CHECK(Stays([&] { return m1.Requests().empty(); }));
}

TEST_CASE_METHOD(Fixture, "a Work that a MultiClusterService wants, too, is left to it") {
  PutAskingWork(api::ServiceExports());
  PutExport();
  PutSlice("web-a");
  Begin();
  REQUIRE(InTime([&] { return HasWork("web-a"); }));
  kube::Object work = WorkOf("web-a");
  work.SetLabel(api::kEndpointSliceManagedByLabel, "ServiceExport.MultiClusterService");
  work.SetLabel(api::kMultiClusterServiceNamespaceLabel, "shop");
  work.SetLabel(api::kMultiClusterServiceNameLabel, "web");
  PutCached(api::Works(), work);
  m1.Erase(api::ServiceExports(), {"shop", "web"});
  CHECK(InTime([&] {
    return WorkOf("web-a").Label(api::kEndpointSliceManagedByLabel) == "MultiClusterService";
  }));
  CHECK(WorkOf("web-a").Label(api::kEndpointSliceNameLabel).empty());
  CHECK(HasWork("web-a"));
}

TEST_CASE_METHOD(Fixture, "exports of a member that serves the kind no more are none") {
  PutAskingWork(api::ServiceExports());
  PutExport();
  PutSlice("web-a");
  Begin();
  REQUIRE(InTime([&] { return HasWork("web-a"); }));
  REQUIRE(Finish().ok());
  m1.FailNext("GET multicluster.x-k8s.io/v1alpha1/serviceexports", 404, "NotFound", 1000);
  SECTION("the member alone says so: its servers may be starting") {
    PutCluster("Push", "True", R"(, "apiEnablements": [{
        "groupVersion": "multicluster.x-k8s.io/v1alpha1",
        "resources": [{"name": "serviceexports", "kind": "ServiceExport"}]}])");
    Restart();
    CHECK(Stays([&] { return HasWork("web-a"); }));
    REQUIRE(InTime([&] { return !recorded->All().empty(); }));
    CHECK(absl::StrContains(recorded->All()[0], "APIIncompatible Work: cluster m1 does not"));
    CHECK(HasWork("web-a"));
  }
  SECTION("so does what is known of its kinds") {
    Restart();
    CHECK(InTime([&] { return !HasWork("web-a"); }));
  }
}
