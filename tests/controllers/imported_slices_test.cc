#include "controllers/imported_slices/imported_slice_reconciler.h"
#include "controllers/imported_slices/register.h"

#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "controllers/imported_slices/imported_slice.h"
#include "tests/support/loops_fixture.h"

namespace {

using tests::Eventually;
using tests::Json;
using tests::Parse;

constexpr char kManifest[] = R"({"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
    "metadata": {"name": "web-abc", "namespace": "shop", "labels": {"kubernetes.io/service-name":
        "web", "app": "web"}, "annotations": {"a": "b"}},
    "addressType": "IPv4", "ports": [{"name": "http", "port": 80, "protocol": "TCP"}],
    "endpoints": [{"addresses": ["10.0.0.1"], "conditions": {"ready": true}}]})";

const kube::ObjectKey kImported{"shop", "imported-m1-web-abc"};

kube::Object Work(const std::string& cluster = "m1", const std::string& name = "web-abc") {
  kube::Object work = kube::Object::Make(api::Works().gvk, {"karmada-es-" + cluster, "w-" + name});
  work.Set({"metadata", "labels"}, Json(R"({"endpointslice.karmada.io/namespace": "shop",
      "endpointslice.karmada.io/name": "web",
      "endpointslice.karmada.io/managed-by": "ServiceExport"})"));
  work.AddFinalizer(api::kEndpointSliceFinalizer);
  json::Value manifest = Json(kManifest);
  manifest.Set({"metadata", "name"}, name);
  work.Set({"spec"}, json::Value::Object({{"suspendDispatching", true}}));
  work.Set({"spec", "workload", "manifests"}, json::Value::Array({manifest}));
  return work;
}

struct Fixture : tests::LoopsFixture {
  const std::shared_ptr<controllers::SeenDeletions> seen =
      std::make_shared<controllers::SeenDeletions>();
  std::optional<controllers::ImportedSliceReconciler> reconciler;

  Fixture() {
    Sync({api::Works(), api::EndpointSlices()});
    informers.Get(api::EndpointSlices())
        ->AddIndex(controllers::kImportedByWork, controllers::ImportedIndexValues);
    reconciler.emplace(Make(), seen);
  }
  kube::Object PutWork(const kube::Object& work) { return PutCached(api::Works(), work); }
  absl::StatusOr<kube::Action> Reconcile(const kube::ObjectKey& key) {
    return reconciler->Reconcile({.key = key}, {});
  }
  void Import(const kube::Object& work = Work()) {
    PutWork(work);
    const auto action = Reconcile(work.key());
    INFO(action.status());
    REQUIRE(action.ok());
  }
  void Delete(const kube::ObjectKey& key) {
    kube::Object work = server->Find(api::Works(), key);
    work.Set({"metadata", "deletionTimestamp"}, "2024-01-01T00:00:00Z");
    PutWork(work);
    REQUIRE(Reconcile(key).ok());
  }
  kube::Object Slice(const kube::ObjectKey& key = kImported) const {
    return server->Find(api::EndpointSlices(), key);
  }
  size_t Writes() const {
    return server->Requests("PATCH").size() + server->Requests("POST").size() +
           server->Requests("DELETE").size();
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture,
                 "a collected slice comes to the control plane as one of the derived Service") {
  kube::Object work = Work();
  work.SetLabel(api::kWorkIdLabel, "id-1");
  Import(work);
  kube::Object slice = Slice();
  for (const char* field : {"uid", "resourceVersion", "generation", "creationTimestamp"}) {
    slice.Erase({"metadata", field});
  }
  CHECK(slice == Parse(R"({"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
      "metadata": {"name": "imported-m1-web-abc", "namespace": "shop",
        "labels": {"kubernetes.io/service-name": "derived-web",
                   "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.karmada.io",
                   "work.karmada.io/permanent-id": "id-1"},
        "annotations": {"work.karmada.io/namespace": "karmada-es-m1",
                        "work.karmada.io/name": "w-web-abc"}},
      "addressType": "IPv4", "ports": [{"name": "http", "port": 80, "protocol": "TCP"}],
      "endpoints": [{"addresses": ["10.0.0.1"], "conditions": {"ready": true}}]})"));
  CHECK(Writes() == 1);
  reconciler.emplace(*manager);  // Forgets everything, as a restart does.
  REQUIRE(Reconcile(work.key()).ok());
  CHECK(Writes() == 1);
  CHECK(recorded->All().empty());
}

TEST_CASE_METHOD(Fixture, "what changes is written, and what others have added stays") {
  Import();
  kube::Object slice = Slice();
  slice.SetLabel("propagationpolicy.karmada.io/permanent-id", "p");
  PutCached(api::EndpointSlices(), slice);
  kube::Object work = Work();
  json::Value manifest = Json(kManifest);
  manifest.Set("endpoints", Json(R"([{"addresses": ["10.0.0.2"]}])"));
  manifest.Erase("ports");
  work.Set({"spec", "workload", "manifests"}, json::Value::Array({manifest}));
  Import(work);
  CHECK(Slice().root()["endpoints"] == manifest["endpoints"]);
  CHECK(Slice().root()["ports"].empty());
  CHECK(Slice().Label("propagationpolicy.karmada.io/permanent-id") == "p");
  CHECK(Writes() == 2);
}

TEST_CASE_METHOD(Fixture, "a slice without endpoints or ports is imported once") {
  json::Value manifest = Json(kManifest);
  manifest.Set("endpoints", json::Value());
  manifest.Set("ports", json::Value());
  kube::Object work = Work();
  work.Set({"spec", "workload", "manifests"}, json::Value::Array({manifest}));
  Import(work);
  CHECK(Slice().root()["endpoints"] == json::Value::Array());
  Import(work);
  CHECK(Writes() == 1);
}

TEST_CASE_METHOD(Fixture, "another address type needs a new slice") {
  Import();
  json::Value manifest = Json(kManifest);
  manifest.Set("addressType", "IPv6");
  kube::Object work = Work();
  work.Set({"spec", "workload", "manifests"}, json::Value::Array({manifest}));
  Import(work);
  CHECK(server->Requests("DELETE").size() == 1);
  CHECK(Slice().root()["addressType"] == "IPv6");
}

TEST_CASE_METHOD(Fixture, "the end of a Work takes its own slices along, even without an id") {
  Import();
  Import(Work("m2"));
  Import(Work("m1", "web-xyz"));
  SECTION("deleted") {
    Delete(Work().key());
    CHECK_FALSE(
        server->Find(api::Works(), Work().key()).HasFinalizer(api::kEndpointSliceFinalizer));
  }
  SECTION("not exported any more, but kept for a MultiClusterService") {
    kube::Object work = Work();
    work.EraseLabel(api::kEndpointSliceNameLabel);
    work.EraseLabel(api::kEndpointSliceNamespaceLabel);
    work.SetLabel(api::kEndpointSliceManagedByLabel, "MultiClusterService");
    work.AddFinalizer(api::kEndpointSliceDispatchFinalizer);
    Import(work);
    const kube::Object now = server->Find(api::Works(), Work().key());
    CHECK(now.metadata()["finalizers"] ==
          Json(R"(["karmada.io/mcs-endpointslice-dispatch-controller"])"));
  }
  CHECK(Slice().empty());
  CHECK_FALSE(Slice({"shop", "imported-m2-web-abc"}).empty());
  CHECK_FALSE(Slice({"shop", "imported-m1-web-xyz"}).empty());
}

TEST_CASE_METHOD(Fixture, "a slice that names no Work belongs to the one with its id") {
  kube::Object old = kube::Object::Make(api::EndpointSlices().gvk, {"shop", "imported-old"});
  old.SetLabel(api::kSliceManagedByLabel, api::kSliceManagedByImport);
  old.SetLabel(api::kWorkIdLabel, "id-1");
  PutCached(api::EndpointSlices(), old);
  kube::Object work = Work();
  work.SetLabel(api::kWorkIdLabel, "id-1");
  PutWork(work);
  Delete(work.key());
  CHECK(Slice({"shop", "imported-old"}).empty());
}

TEST_CASE_METHOD(Fixture, "a slice whose name is taken by somebody else is reported") {
  std::string why;
  SECTION("by a user") {
    PutCached(api::EndpointSlices(), kube::Object::Make(api::EndpointSlices().gvk, kImported));
    why = "EndpointSlice shop/imported-m1-web-abc exists in the control plane and is not Karmada's";
  }
  SECTION("by the slice of another cluster") {
    Import(Work("m1-web", "abc"));
    why =
        "EndpointSlice shop/imported-m1-web-abc is made of another cluster's slice, by Work "
        "karmada-es-m1-web/w-abc";
  }
  const size_t before = Writes();
  PutWork(Work());
  const auto action = Reconcile(Work().key());
  REQUIRE(action.ok());
  CHECK(action->delay() == controllers::ImportedSliceReconciler::kAfterLastingFailure);
  CHECK(Writes() == before);
  REQUIRE(recorded->All().size() == 1);
  CHECK(absl::StartsWith(recorded->All()[0],
                         "Warning ImportEndpointSliceFailed Work: Import "
                         "EndpointSlice(shop/web-abc) of cluster(m1) failed: " +
                             why));
  // The other one ends.
  server->Erase(api::EndpointSlices(), kImported);
  REQUIRE(Eventually([&] { return cluster.Find(api::EndpointSlices(), kImported) == nullptr; }));
  REQUIRE(Reconcile(Work().key()).ok());
  CHECK(Slice().Annotation(api::kWorkNameAnnotation) == "w-web-abc");
  CHECK(absl::StrContains(recorded->All().back(), "Normal ImportEndpointSliceSucceed"));
}

TEST_CASE_METHOD(Fixture, "a slice that the server refuses is reported and tried again later") {
  server->FailNext("POST", 422, "Invalid");
  PutWork(Work());
  const auto action = Reconcile(Work().key());
  INFO(action.status());
  REQUIRE(action.ok());
  CHECK(action->delay() == controllers::ImportedSliceReconciler::kAfterLastingFailure);
  CHECK(recorded->All().size() == 1);
  REQUIRE(Reconcile(Work().key()).ok());
  CHECK_FALSE(Slice().empty());
}

TEST_CASE_METHOD(Fixture, "slices of a Work that was seen to vanish go, if the server agrees") {
  Import();
  const kube::Object work = server->Find(api::Works(), Work().key());
  REQUIRE(Shows(api::EndpointSlices(), Slice()));
  server->Erase(api::Works(), work.key());
  REQUIRE(Eventually([&] { return cluster.Find(api::Works(), work.key()) == nullptr; }));
  SECTION("it has") {
    seen->Note(work.key());
    REQUIRE(Reconcile(work.key()).ok());
    CHECK(Slice().empty());
  }
  SECTION("it is not there: a restored backup may bring it yet") {
    REQUIRE(Reconcile(work.key()).ok());
    CHECK_FALSE(Slice().empty());
    REQUIRE(recorded->All().size() == 1);
    CHECK(
        absl::StartsWith(recorded->All()[0],
                         absl::StrCat("Warning OwnerMissing EndpointSlice: this was made for Work ",
                                      work.key().ToString())));
  }
  SECTION("it is there, and the watch is late") {
    server->Block("WATCH");
    server->EndWatches(absl::OkStatus());
    server->Put(api::Works(), work);
    seen->Note(work.key());
    REQUIRE(Reconcile(work.key()).ok());
    CHECK_FALSE(Slice().empty());
    server->Unblock();
  }
}

TEST_CASE_METHOD(tests::LoopsFixture, "slices in the control plane are kept as they are meant") {
  Sync({api::Works(), api::EndpointSlices()});
  Make();
  REQUIRE(controllers::RegisterImportedSlices(Context(), 1).ok());
  Start();
  const auto slice = [&] { return server->Find(api::EndpointSlices(), kImported); };
  PutCached(api::Works(), Work());
  REQUIRE(Eventually([&] { return !slice().empty(); }));
  REQUIRE(Shows(api::EndpointSlices(), slice()));
  SECTION("deleted by hand") { server->Erase(api::EndpointSlices(), kImported); }
  SECTION("edited by hand") {
    kube::Object edited = slice();
    edited.Set({"endpoints"}, json::Value::Array());
    server->Put(api::EndpointSlices(), edited);
  }
  SECTION("its Work goes without its finalizer") {
    server->Erase(api::Works(), Work().key());
    CHECK(Eventually([&] { return slice().empty(); }));
    return;
  }
  CHECK(Eventually([&] { return slice().root()["endpoints"].size() == 1; }));
}
