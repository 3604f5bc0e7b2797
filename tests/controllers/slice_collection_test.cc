// What both collectors do alike, and when they watch what.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "base/byte_budget.h"
#include "controllers/slice_collection/slice_demand.h"
#include "tests/controllers/slice_collection_fixture.h"

namespace {

using api::SliceCollector;
using tests::Eventually;

constexpr SliceCollector kExport = SliceCollector::kServiceExport;
constexpr SliceCollector kService = SliceCollector::kMultiClusterService;

// A Service whose slices are asked for by one collector or the other.
struct Fixture : tests::SliceCollectionFixture {
  SliceCollector collector = GENERATE(kExport, kService);
  const kube::Resource& asking =
      collector == kExport ? api::ServiceExports() : api::MultiClusterServices();

  void Ask(const std::string& name = "web") {
    PutAskingWork(asking, name);
    if (collector == kExport) PutExport(name);
  }
  void Begin() {
    Collect(collector);
    Start();
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "the slices of a Service become Works, and follow it") {
  Ask();
  PutSlice("web-a");
  PutSlice("web-b");
  PutSlice("other", "10.0.0.9", "other");
  m1.Put(api::EndpointSlices(),
         kube::Object::Make(api::EndpointSlices().gvk, {"shop", "of-nobody"}));
  kube::Object ours = Slice("imported");
  ours.SetLabel(api::kSliceManagedByLabel, api::kSliceManagedByImport);
  m1.Put(api::EndpointSlices(), ours);
  Begin();
  REQUIRE(InTime([&] { return HasWork("web-a") && HasWork("web-b"); }));
  CHECK(WorkOf("web-a").Label(api::kEndpointSliceManagedByLabel) == api::KeysOf(collector).name);
  CHECK(WorkOf("web-a").HasFinalizer(api::KeysOf(collector).finalizer));

  PutSlice("web-c");
  CHECK(InTime([&] { return HasWork("web-c"); }));
  PutSlice("web-a", "10.0.0.2");
  CHECK(InTime([&] { return AddressIn("web-a") == "10.0.0.2"; }));
  m1.Erase(api::EndpointSlices(), {"shop", "web-b"});
  CHECK(InTime([&] { return !HasWork("web-b"); }));
  CHECK(Stays([&] {
    return !HasWork("other") && !HasWork("imported") && !HasWork("of-nobody") && Writes() == 5;
  }));
  CHECK(recorded->All().empty());
}

TEST_CASE_METHOD(Fixture,
                 "a slice that changes all the time is written once a second, up to its end") {
  Ask();
  PutSlice("web-a", "10.0.0.0");
  Begin();
  REQUIRE(InTime([&] { return HasWork("web-a"); }));
  REQUIRE(Stays([&] { return Writes() == 1; }));
  const size_t before = Writes();
  PutSlice("web-a", "10.0.0.1");
  REQUIRE(Eventually([&] { return AddressIn("web-a") == "10.0.0.1"; }));  // At once.
  for (int i = 2; i <= 30; ++i) {
    PutSlice("web-a", absl::StrCat("10.0.0.", i));
    clock.Advance(absl::Milliseconds(100));
    absl::SleepFor(absl::Milliseconds(3));
  }
  CHECK(Writes() - before <= 4);
  CHECK(InTime([&] { return AddressIn("web-a") == "10.0.0.30"; }));
  CHECK(Writes() - before <= 5);
  CHECK(Stays([&] { return Writes() - before <= 5; }));
}

TEST_CASE_METHOD(Fixture, "a restart writes nothing, and makes up for what it has missed") {
  Ask();
  for (const char* name : {"web-a", "web-b"}) PutSlice(name);
  Begin();
  REQUIRE(InTime([&] { return HasWork("web-a") && HasWork("web-b"); }));
  SECTION("nothing") {
    const size_t before = Writes();
    Restart(collector);
    REQUIRE(InTime([&] { return Watches(api::EndpointSlices()) == 2; }));
    CHECK(Stays([&] { return Writes() == before; }));
  }
  SECTION("a slice has gone") {
    REQUIRE(Finish().ok());
    m1.Erase(api::EndpointSlices(), {"shop", "web-a"});
    Restart(collector);
    CHECK(InTime([&] { return !HasWork("web-a"); }));
    CHECK(HasWork("web-b"));
  }
  SECTION("what asked has gone, here and there") {
    REQUIRE(Finish().ok());
    server->Erase(api::Works(), AskingWork(asking));
    m1.Erase(api::ServiceExports(), {"shop", "web"});
    REQUIRE(Eventually([&] { return cluster.Find(api::Works(), AskingWork(asking)) == nullptr; }));
    Restart(collector);
    if (collector == kExport) {  // The member itself says so.
      CHECK(InTime([&] { return !HasWork("web-a") && !HasWork("web-b"); }));
    } else {  // A restored backup may bring it yet.
      CHECK(Stays([&] { return HasWork("web-a") && HasWork("web-b"); }));
      Ask();
      REQUIRE(InTime([&] { return cluster.Find(api::Works(), AskingWork(asking)) != nullptr; }));
      server->Erase(api::Works(), AskingWork(asking));
      CHECK(InTime([&] { return !HasWork("web-a") && !HasWork("web-b"); }));
    }
  }
}

TEST_CASE_METHOD(Fixture, "a member is watched while slices of it are wanted, and no longer") {
  PutSlice("web-a");
  Begin();
  CHECK(Stays([&] { return m1.Requests().empty(); }));
  Ask();
  REQUIRE(InTime([&] { return HasWork("web-a"); }));
  CHECK(Watches(api::EndpointSlices()) == 1);
  CHECK(Watches(api::ServiceExports()) == (collector == kExport ? 1 : 0));
  m1.Erase(api::ServiceExports(), {"shop", "web"});
  server->Erase(api::Works(), AskingWork(asking));
  CHECK(InTime([&] { return WorkOf("web-a").IsDeleting(); }));
  server->Erase(api::Works(), WorkOf("web-a").key());  // Once nobody holds it by a finalizer.
  CHECK(InTime([&] { return m1.watches() == 0; }));
}

TEST_CASE_METHOD(Fixture,
                 "nothing is done in a pull cluster, nor in one that has not been ready yet") {
  Ask();
  PutSlice("web-a");
  const bool pull = GENERATE(true, false);
  PutCluster(pull ? "Pull" : "Push", pull ? "True" : "Unknown");
  Begin();
  CHECK(Stays([&] { return m1.Requests().empty() && Writes() == 0; }));
  PutCluster("Push", "True");
  CHECK(InTime([&] { return HasWork("web-a"); }));
}

TEST_CASE_METHOD(Fixture, "a member that does not answer loses nothing") {
  Ask();
  PutSlice("web-a");
  Begin();
  REQUIRE(InTime([&] { return HasWork("web-a"); }));
  m1.FailNext("GET", 503, "ServiceUnavailable", 1000);
  const size_t before = Writes();
  Restart(collector);
  REQUIRE(m1.AwaitRequests("GET", 2));
  CHECK(Stays([&] { return HasWork("web-a") && Writes() == before; }));
  m1.EndFailures();
  PutSlice("web-b");
  CHECK(InTime([&] { return HasWork("web-b"); }));
}

TEST_CASE_METHOD(Fixture,
                 "a slice for which the cache has no room is not taken for one that is gone") {
  const std::shared_ptr<kube::MemberCluster> cluster_m1 = *members.Get("m1");
  for (kube::InformerSet* cache : {&cluster_m1->client().informers(), &cluster_m1->unfiltered()}) {
    cache->SetBudget(std::make_shared<base::ByteBudget>(64 << 10), [] {});
  }
  Ask();
  PutSlice("web-a");
  Begin();
  REQUIRE(InTime([&] { return HasWork("web-a"); }));
  kube::Object large = Slice("web-b");
  large.SetAnnotation("large", std::string(100 << 10, 'x'));
  m1.Put(api::EndpointSlices(), large);
  const auto leaves_out = [&] {
    for (kube::InformerSet* cache :
         {&cluster_m1->client().informers(), &cluster_m1->unfiltered()}) {
      const auto informer = cache->Find(api::EndpointSlices());
      if (informer != nullptr && informer->LeavesOut()) return true;
    }
    return false;
  };
  REQUIRE(InTime(leaves_out));
  m1.Erase(api::EndpointSlices(), {"shop", "web-a"});
  CHECK(Stays([&] { return HasWork("web-a"); }));
  m1.Erase(api::EndpointSlices(), large.key());
  CHECK(InTime([&] { return !HasWork("web-a"); }));
}

TEST_CASE_METHOD(Fixture, "a member that is connected again is watched again") {
  Ask();
  PutSlice("web-a");
  Begin();
  REQUIRE(InTime([&] { return HasWork("web-a"); }));
  m1.Erase(api::EndpointSlices(), {"shop", "web-a"});
  REQUIRE(InTime([&] { return !HasWork("web-a"); }));
  // It leaves and comes back.
  server->Erase(api::Clusters(), {"", "m1"});
  REQUIRE(Eventually([&] { return cluster.Find(api::Clusters(), {"", "m1"}) == nullptr; }));
  members.Remove("m1");
  PutSlice("web-b");
  CHECK(Stays([&] { return !HasWork("web-b"); }));
  PutCluster("Push", "True");
  CHECK(InTime([&] { return HasWork("web-b"); }));
}

TEST_CASE_METHOD(Fixture, "a Work that somebody deletes or edits comes back") {
  Ask();
  PutSlice("web-a");
  Begin();
  REQUIRE(InTime([&] { return HasWork("web-a"); }));
  const kube::ObjectKey key = WorkOf("web-a").key();
  SECTION("deleted") {
    kube::Object work = WorkOf("web-a");
    work.Set({"metadata", "deletionTimestamp"}, "2024-01-01T00:00:00Z");
    PutCached(api::Works(), work);
    const size_t before = Writes();
    CHECK(Stays([&] { return Writes() == before; }));  // Waits for its end.
    server->Erase(api::Works(), key);
  }
  SECTION("edited") {
    kube::Object work = WorkOf("web-a");
    work.EraseLabel(api::KeysOf(collector).name_label);
    work.EraseLabel(api::KeysOf(collector).namespace_label);
    PutCached(api::Works(), work);
  }
  CHECK(InTime([&] {
    return HasWork("web-a") &&
           api::CollectedServiceOf(WorkOf("web-a"), collector) == kube::ObjectKey{"shop", "web"};
  }));
}

TEST_CASE_METHOD(Fixture, "a slice whose Work is ending for the other collector gets a new one") {
  const SliceCollector other = collector == kExport ? kService : kExport;
  PutSlice("web-a");
  works::CollectedSlices of_other(cluster);
  REQUIRE(of_other.Report("m1", Slice("web-a"), other, {}).ok());
  REQUIRE(Shows(api::Works(), WorkOf("web-a")));
  kube::Object work = WorkOf("web-a");
  work.Set({"metadata", "deletionTimestamp"}, "2024-01-01T00:00:00Z");
  PutCached(api::Works(), work);
  Ask();
  Begin();
  const size_t before = Writes();
  CHECK(Stays([&] { return Writes() == before; }));
  server->Erase(api::Works(), work.key());
  CHECK(InTime([&] { return HasWork("web-a"); }));
}

TEST_CASE_METHOD(Fixture,
                 "a slice whose name a Work of somebody else has is collected when that ends") {
  Ask();
  PutSlice("web-a");
  kube::Object work =
      kube::Object::Make(api::Works().gvk, works::WorkOfSlice("m1", {"shop", "web-a"}));
  work.Set({"metadata", "deletionTimestamp"}, "2024-01-01T00:00:00Z");
  PutCached(api::Works(), work);
  Begin();
  const size_t before = Writes();
  CHECK(Stays([&] { return Writes() == before; }));
  server->Erase(api::Works(), work.key());
  CHECK(InTime([&] { return HasWork("web-a"); }));
}

TEST_CASE_METHOD(Fixture, "a cluster whose execution namespace comes late gets its Works then") {
  server->Erase(api::Namespaces(), {"", "karmada-es-m1"});
  REQUIRE(Eventually([&] {
    return cluster.Find(api::Namespaces(), {"", "karmada-es-m1"}) == nullptr;
  }));
  Ask();
  PutSlice("web-a");
  Begin();
  REQUIRE(InTime([&] { return m1.watches() >= 1; }));
  CHECK(Stays([&] { return Writes() == 0; }));
  PutCached(api::Namespaces(), kube::Object::Make(api::Namespaces().gvk, {"", "karmada-es-m1"}));
  CHECK(InTime([&] { return HasWork("web-a"); }));
}

TEST_CASE_METHOD(Fixture, "a Service with 1,000 endpoints is collected") {
  Ask();
  kube::Object slice = Slice("web-a");
  json::Value endpoints = json::Value::Array();
  for (int i = 0; i < 1000; ++i) {
    endpoints.Append(tests::Json(absl::StrCat(
        R"({"addresses": ["10.0.)", i / 250, ".", i % 250, R"("], "nodeName": "node-)", i,
        R"(", "conditions": {"ready": true, "serving": true, "terminating": false}, "zone": "a",
            "targetRef": {"kind": "Pod", "name": "web-)",
        i, R"(", "namespace": "shop", "uid": "00000000-0000-0000-0000-000000000000"}})")));
  }
  slice.Set({"endpoints"}, endpoints);
  m1.Put(api::EndpointSlices(), slice);
  Begin();
  REQUIRE(InTime([&] { return HasWork("web-a"); }));
  const json::Value& manifest = WorkOf("web-a").Get({"spec", "workload", "manifests"}).At(0);
  CHECK(manifest["endpoints"].size() == 1000);
  CHECK(recorded->All().empty());
}

TEST_CASE_METHOD(Fixture,
                 "a slice that cannot be stored is reported, and tried again minutes later") {
  Ask();
  PutSlice("web-a");
  server->FailNext("POST", 422, "Invalid", 1000);
  Begin();
  REQUIRE(InTime([&] { return !recorded->All().empty(); }));
  const std::vector<std::string> events = recorded->All();
  REQUIRE(events.size() == 2);  // On what asks for the slice, and on its template.
  CHECK(absl::StartsWith(events[0],
                         "Warning CollectEndpointSliceFailed Work: Collect "
                         "EndpointSlice(shop/web-a) of cluster(m1) failed: "));
  CHECK(absl::StartsWith(events[1],
                         "Warning CollectEndpointSliceFailed " + asking.gvk.kind + ": Collect "));
  CHECK(Stays([&] { return server->Requests("POST").size() == 1; }));
  // Another version may be what the server takes.
  PutSlice("web-a", "10.0.0.2");
  CHECK(WithinAMinute([&] { return server->Requests("POST").size() == 2; }));
  CHECK(Stays([&] { return server->Requests("POST").size() == 2; }));
  server->EndFailures();
  clock.Advance(absl::Minutes(5));
  CHECK(InTime([&] { return AddressIn("web-a") == "10.0.0.2"; }));
  CHECK(Eventually(
      [&] { return absl::StrContains(recorded->All().back(), "CollectEndpointSliceSucceed"); }));
}

TEST_CASE_METHOD(Fixture, "a slice is collected as soon as what has its place is gone") {
  Ask();
  kube::Object other =
      kube::Object::Make(api::Works().gvk, works::WorkOfSlice("m1", {"shop", "web-a"}));
  // As of a slice that is dispatched to this cluster, which no collector has anything to do with.
  kube::Object slice = Slice("m2-web-a");
  slice.SetAnnotation(api::kProvisionClusterAnnotation, "m2");
  other.Set({"spec", "workload", "manifests"}, json::Value::Array({slice.root()}));
  PutCached(api::Works(), other);
  PutSlice("web-a");
  Begin();
  REQUIRE(InTime([&] { return !recorded->All().empty(); }));
  CHECK(absl::StrContains(recorded->All()[0], "carries something else"));
  CHECK(Stays([&] { return Writes() == 0; }));
  server->Erase(api::Works(), other.key());
  CHECK(WithinAMinute([&] { return AddressIn("web-a") == "10.0.0.1"; }));
}

TEST_CASE_METHOD(Fixture, "a slice that failed and is not wanted any more is taken off at once") {
  Ask();
  PutSlice("web-a");
  Begin();
  REQUIRE(InTime([&] { return HasWork("web-a"); }));
  server->FailNext("PATCH", 422, "Invalid", 1000);
  PutSlice("web-a", "10.0.0.2");
  REQUIRE(InTime([&] { return !recorded->All().empty(); }));
  m1.Erase(api::EndpointSlices(), {"shop", "web-a"});
  CHECK(WithinAMinute([&] { return !HasWork("web-a"); }));
}

TEST_CASE_METHOD(Fixture, "a member without EndpointSlices is reported once") {
  Ask();
  m1.FailNext("GET", 404, "NotFound", 1000);
  Begin();
  REQUIRE(InTime([&] { return !recorded->All().empty(); }));
  INFO(recorded->All()[0]);
  CHECK(absl::StartsWith(recorded->All()[0], "Warning APIIncompatible Work: "));
  CHECK(absl::StrContains(recorded->All()[0],
                          "cluster m1 does not serve discovery.k8s.io/v1, Kind=EndpointSlice"));
  const size_t events = recorded->All().size();
  for (int i = 0; i < 20; ++i) clock.Advance(absl::Minutes(1));
  CHECK(Stays([&] { return recorded->All().size() <= events + 2 && Writes() == 0; }));
}
