#include "works/collected_slices.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "api/keys.h"
#include "api/names.h"
#include "api/resources.h"
#include "base/status.h"
#include "kube/client/errors.h"
#include "tests/support/members_fixture.h"

namespace {

using api::SliceCollector;
using tests::Json;
using tests::Parse;

constexpr SliceCollector kExport = SliceCollector::kServiceExport;
constexpr SliceCollector kService = SliceCollector::kMultiClusterService;
const kube::ObjectKey kWorkKey{"karmada-es-m1", api::WorkName("EndpointSlice", "web-abc", "shop")};

kube::Object Slice(const std::string& address = "10.0.0.1") {
  kube::Object slice = Parse(R"({"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
      "metadata": {"name": "web-abc", "namespace": "shop", "uid": "u", "resourceVersion": "7",
                   "generation": 3, "generateName": "web-",
                   "ownerReferences": [{"apiVersion": "v1", "kind": "Service", "name": "web"}],
                   "labels": {"kubernetes.io/service-name": "web"}},
      "addressType": "IPv4", "ports": [{"name": "", "port": 80, "protocol": "TCP"}]})");
  slice.Set({"endpoints"}, json::Value::Array({json::Value::Object(
                               {{"addresses", json::Value::Array({json::Value(address)})}})}));
  return slice;
}

struct Fixture : tests::MembersFixture {
  works::CollectedSlices collected{cluster};

  Fixture() { Sync({api::Works()}); }

  bool Report(SliceCollector collector, const kube::Object& slice = Slice()) {
    const absl::StatusOr<bool> written = collected.Report("m1", slice, collector, {});
    INFO(written.status());
    REQUIRE(written.ok());
    return *written;
  }
  kube::ObjectPtr Held() { return cluster.Find(api::Works(), kWorkKey); }
  bool TakeOff(SliceCollector collector) {
    const absl::StatusOr<bool> written = collected.TakeOff(Held(), collector, {});
    INFO(written.status());
    REQUIRE(written.ok());
    return *written;
  }
  kube::Object Work() const { return server->Find(api::Works(), kWorkKey); }
  size_t Writes() const {
    return server->Requests("PATCH").size() + server->Requests("POST").size() +
           server->Requests("DELETE").size();
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a slice becomes a Work that is not dispatched") {
  CHECK(Report(kExport));
  const kube::Object work = Work();
  CHECK(work.labels() == Json(R"({"endpointslice.karmada.io/managed-by": "ServiceExport",
      "endpointslice.karmada.io/namespace": "shop", "endpointslice.karmada.io/name": "web"})"));
  CHECK(work.metadata()["finalizers"] == Json(R"(["karmada.io/endpointslice-controller"])"));
  CHECK(work.spec()["suspendDispatching"] == json::Value(true));
  const kube::Object manifest(work.Get({"spec", "workload", "manifests"}).At(0));
  CHECK(manifest.root()["endpoints"] == Slice().root()["endpoints"]);
  CHECK(manifest.Label(api::kManagedLabel) == "true");
  CHECK(manifest.uid().empty());
  CHECK_FALSE(manifest.metadata().Has("ownerReferences"));

  CHECK_FALSE(Report(kExport));
  CHECK(Report(kExport, Slice("10.0.0.2")));
  CHECK(Writes() == 2);
}

TEST_CASE_METHOD(Fixture, "two collectors share a Work, and each can leave it first") {
  const SliceCollector first = GENERATE(kExport, kService);
  const SliceCollector last = first == kExport ? kService : kExport;
  Report(kExport);
  Report(kService);
  CHECK(Work().Label(api::kEndpointSliceManagedByLabel) == "MultiClusterService.ServiceExport");
  CHECK(Work().HasFinalizer(api::kEndpointSliceFinalizer));
  CHECK(Work().HasFinalizer(api::kEndpointSliceDispatchFinalizer));
  kube::Object turned = Work();  // As upstream writes it now and then.
  turned.SetLabel(api::kEndpointSliceManagedByLabel, "ServiceExport.MultiClusterService");
  PutCached(api::Works(), turned);
  CHECK_FALSE(Report(kExport));
  CHECK_FALSE(Report(kService));
  CHECK(api::CollectedServiceOf(Work(), kExport) == kube::ObjectKey{"shop", "web"});
  CHECK(api::CollectedServiceOf(Work(), kService) == kube::ObjectKey{"shop", "web"});
  CHECK(works::CollectedServices(Work()) ==
        std::vector<std::string>{"ServiceExport/shop/web", "MultiClusterService/shop/web"});

  CHECK(TakeOff(first));
  CHECK(Work().Label(api::kEndpointSliceManagedByLabel) == api::KeysOf(last).name);
  CHECK(api::CollectedServiceOf(Work(), first).name.empty());
  CHECK(api::CollectedServiceOf(Work(), last).name == "web");
  CHECK(Work().HasFinalizer(api::KeysOf(first).finalizer));  // Its loop takes it off.
  CHECK_FALSE(TakeOff(first));

  CHECK(TakeOff(last));
  CHECK(Work().IsDeleting());
  CHECK_FALSE(TakeOff(last));
  CHECK(Writes() == 4);
}

TEST_CASE_METHOD(Fixture, "a Work whose list of collectors is empty goes with the last Service") {
  Report(kExport);
  kube::Object work = Work();
  work.SetLabel(api::kEndpointSliceManagedByLabel, "");
  PutCached(api::Works(), work);
  CHECK(TakeOff(kExport));
  CHECK(Work().IsDeleting());
}

TEST_CASE_METHOD(Fixture, "a slice that has come to another Service is collected for that one") {
  Report(kExport);
  kube::Object slice = Slice();
  slice.SetLabel(api::kServiceNameLabel, "shop-front");
  CHECK(Report(kExport, slice));
  CHECK(api::CollectedServiceOf(Work(), kExport).name == "shop-front");
}

TEST_CASE_METHOD(Fixture, "a Work that carries something else is left alone") {
  kube::Object work = kube::Object::Make(api::Works().gvk, kWorkKey);
  work.Set({"spec", "workload", "manifests"}, json::Value::Array({Slice().root()}));
  SECTION("a propagated slice") {}
  SECTION("a slice that another cluster provides") {
    work.Set({"spec", "suspendDispatching"}, true);
    work.SetLabel(api::kEndpointSliceManagedByLabel, "MultiClusterService");
    work.SetAnnotation(api::kProvisionClusterAnnotation, "m2");
  }
  PutCached(api::Works(), work);
  const absl::Status reported = collected.Report("m1", Slice(), kExport, {}).status();
  CHECK(absl::IsAlreadyExists(reported));
  CHECK(base::IsTerminal(reported));
  CHECK_FALSE(TakeOff(kExport));
  CHECK(Writes() == 0);
}

TEST_CASE_METHOD(Fixture, "what the other collector has just claimed, or given up, is not lost") {
  Report(kExport);
  SECTION("a claim") {
    const kube::ObjectPtr seen = Held();
    const std::string version(seen->resource_version());
    CHECK(TakeOff(kExport));
    CHECK(Json(server->last_body()).Get({"preconditions", "resourceVersion"}) == version);
    CHECK(Json(server->last_body()).Get({"preconditions", "uid"}) == json::Value(seen->uid()));
  }
  SECTION("an end") {
    Report(kService);
    const kube::ObjectPtr seen = Held();
    kube::Object other = *seen;  // Another process writes, and the watch is late.
    other.SetLabel(api::kEndpointSliceManagedByLabel, "ServiceExport");
    other.EraseLabel(api::kMultiClusterServiceNameLabel);
    const kube::Object stored = server->Put(api::Works(), other);
    CHECK(kube::IsConflict(collected.TakeOff(seen, kExport, {}).status()));
    REQUIRE(Shows(api::Works(), stored));
    CHECK(TakeOff(kExport));
    CHECK(Work().IsDeleting());
  }
}

TEST_CASE_METHOD(Fixture, "nothing is written into a Work on its way out") {
  Report(kExport);
  TakeOff(kExport);
  CHECK(absl::IsFailedPrecondition(collected.Report("m1", Slice(), kExport, {}).status()));
}
