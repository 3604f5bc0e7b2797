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

namespace {

// The member loses the definition of ServiceExports while its watches are cut off, so that nobody
// reports that the exports have gone with it.
struct LostDefinition : Fixture {
  static constexpr char kServed[] = R"(, "apiEnablements": [{
      "groupVersion": "multicluster.x-k8s.io/v1alpha1",
      "resources": [{"name": "serviceexports", "kind": "ServiceExport"}]}])";

  LostDefinition() {
    PutCluster("Push", "True", kServed);
    PutAskingWork(api::ServiceExports());
    PutExport();
    PutSlice("web-a");
    Begin();
    REQUIRE(InTime([&] { return HasWork("web-a") && m1.watches() == 2; }));
  }
  void Answer(int code, const char* reason) {
    for (const char* method : {"GET", "WATCH"}) {
      m1.FailNext(absl::StrCat(method, " multicluster.x-k8s.io/v1alpha1/serviceexports"), code,
                  reason, 1000);
    }
  }
  void Lose() {
    Answer(404, "NotFound");
    m1.EndWatches(absl::UnavailableError("cut off"));
  }
  // Puts the end to a Work that its finalizer holds, as the importing loop does.
  void End(const std::string& slice) { server->Erase(api::Works(), WorkOf(slice).key()); }
  bool Reported(const std::string& event) {
    for (const std::string& text : recorded->All()) {
      if (absl::StartsWith(text, event)) return true;
    }
    return false;
  }
};

}  // namespace

TEST_CASE_METHOD(LostDefinition,
                 "exports go with a definition that the member lost while it was cut off") {
  Lose();
  SECTION("only the member says so: nothing goes, and that is reported") {
    CHECK(InTime([&] { return Reported("Warning APIIncompatible Work: cluster m1 does not"); }));
    CHECK(Stays([&] { return HasWork("web-a"); }));
  }
  SECTION("what is known of its kinds says so, too") {
    PutCluster("Push", "True");
    REQUIRE(InTime([&] { return !HasWork("web-a"); }));
    End("web-a");
    const size_t before = Writes();
    // It does not come back with another failure, when only the old copy of the export is there.
    m1.EndFailures();
    Answer(503, "ServiceUnavailable");
    PutCluster("Push", "True", kServed);
    for (int i = 0; i < 5; ++i) {
      clock.Advance(absl::Minutes(1));
      CHECK(Stays([&] { return !HasWork("web-a"); }));
    }
    CHECK(Writes() == before);
    CHECK_FALSE(Reported("Normal CollectEndpointSliceSucceed"));
    // The definition comes back, with the same export.
    m1.EndFailures();
    CHECK(InTime([&] { return HasWork("web-a"); }));
    CHECK(InTime([&] { return Reported("Normal CollectEndpointSliceSucceed Work"); }));
    m1.Erase(api::ServiceExports(), {"shop", "web"});
    CHECK(InTime([&] { return !HasWork("web-a"); }));
  }
  SECTION("it comes back without the export") {
    PutCluster("Push", "True");
    REQUIRE(InTime([&] { return !HasWork("web-a"); }));
    End("web-a");
    m1.Erase(api::ServiceExports(), {"shop", "web"});
    m1.EndFailures();
    PutCluster("Push", "True", kServed);
    CHECK(Stays([&] { return !HasWork("web-a"); }));
    PutExport();
    CHECK(InTime([&] { return HasWork("web-a"); }));
  }
}

TEST_CASE_METHOD(LostDefinition, "a member whose servers start loses nothing") {
  const auto lists = [&] {
    size_t count = 0;
    for (const std::string& request : m1.Requests("GET")) {
      if (absl::StrContains(request, "serviceexports")) ++count;
    }
    return count;
  };
  const size_t before = lists();
  Lose();
  REQUIRE(InTime([&] { return lists() >= before + 2; }));
  PutCluster("Push", "True");  // Its discovery was read at the wrong moment.
  for (int i = 0; i < 40; ++i) {
    clock.Advance(absl::Milliseconds(100));
    absl::SleepFor(absl::Milliseconds(1));
  }
  m1.EndFailures();
  PutCluster("Push", "True", kServed);
  CHECK(Stays([&] { return HasWork("web-a"); }));
  CHECK(recorded->All().empty());
}

TEST_CASE_METHOD(LostDefinition, "slices of a kind that is away stay, and follow it again") {
  for (const char* method : {"GET", "WATCH"}) {
    m1.FailNext(absl::StrCat(method, " discovery.k8s.io/v1/endpointslices"), 404, "NotFound", 1000);
  }
  m1.EndWatches(absl::UnavailableError("cut off"));
  CHECK(InTime([&] { return Reported("Warning APIIncompatible Work: cluster m1 does not"); }));
  PutSlice("web-b");
  m1.Erase(api::EndpointSlices(), {"shop", "web-a"});
  CHECK(Stays([&] { return HasWork("web-a") && !HasWork("web-b"); }));
  m1.EndFailures();
  CHECK(InTime([&] { return !HasWork("web-a") && HasWork("web-b"); }));
}
