#include "controllers/multi_cluster_service/endpoint_slice_dispatch_reconciler.h"
#include "controllers/multi_cluster_service/register.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "controllers/multi_cluster_service/unfit_clusters.h"
#include "tests/controllers/multi_cluster_service_fixture.h"

namespace tests {
namespace {

constexpr char kDispatchFinalizer[] = "karmada.io/mcs-endpointslice-dispatch-controller";

struct Fixture : MultiClusterServiceFixture {
  std::shared_ptr<controllers::SeenDeletions> seen;
  std::optional<controllers::EndpointSliceDispatchReconciler> reconciler;

  Fixture() { Renew(); }
  // Forgets everything, as a restart does.
  void Renew() {
    seen = std::make_shared<controllers::SeenDeletions>();
    reconciler.emplace(*manager, std::make_shared<controllers::DeterminedConditions>(), seen);
  }
  void Put(const kube::Object& service) { PutCached(api::MultiClusterServices(), service); }
  absl::StatusOr<kube::Action> Pass(const std::string& provider = "m1",
                                    const std::string& name = "web-abc") {
    return reconciler->Reconcile({.key = works::WorkOfSlice(provider, {"shop", name})}, {});
  }
  // A pass that finds no pause.
  absl::Status Reconcile(const std::string& provider = "m1", const std::string& name = "web-abc") {
    clock.Advance(controllers::kDispatchPause);
    const absl::Status result = Pass(provider, name).status();
    Settle(api::Works());
    Settle(api::MultiClusterServices());
    return result;
  }
  bool IsDispatchedTo(const std::string& cluster) const {
    const kube::Object work = SliceWorkIn(cluster);
    return !work.empty() && !work.IsDeleting();
  }
  kube::Object SliceIn(const std::string& cluster) const {
    const kube::Object work = SliceWorkIn(cluster);
    return kube::Object(work.Get({"spec", "workload", "manifests"}).At(0));
  }
};

TEST_CASE_METHOD(Fixture, "a slice goes to every consumer but its own cluster, once") {
  Put(MultiClusterService(R"("providerClusters": [{"name": "m1"}])"));
  const kube::Object source = Collect("m1");
  const size_t before = Writes();
  REQUIRE(Reconcile().ok());
  CHECK(SliceWorkIn("m1") == source);
  for (const char* consumer : {"m2", "m3"}) {
    const kube::Object work = SliceWorkIn(consumer);
    CHECK(work.labels() == Json(R"({"multiclusterservice.karmada.io/namespace": "shop",
                                    "multiclusterservice.karmada.io/name": "web"})"));
    CHECK(work.annotations() == Json(R"({"endpointslice.karmada.io/provision-cluster": "m1"})"));
    CHECK(work.metadata()["finalizers"] == Json(R"(["karmada.io/execution-controller"])"));
    CHECK_FALSE(work.spec().Has("suspendDispatching"));
    const kube::Object slice = SliceIn(consumer);
    CHECK(slice.Describe() == "EndpointSlice shop/m1-web-abc");
    CHECK(slice.labels() == Json(R"({"kubernetes.io/service-name": "web",
        "endpointslice.kubernetes.io/managed-by": "endpointslice-dispatch-controller.karmada.io",
        "karmada.io/managed": "true"})"));
    CHECK(slice.Annotation(api::kProvisionClusterAnnotation) == "m1");
    CHECK(slice.Annotation(api::kWorkNameAnnotation) == work.name());
    CHECK(slice.root()["endpoints"] == Slice().root()["endpoints"]);
  }
  CHECK(ConditionIs(api::kEndpointSliceDispatched) ==
        "True EndpointSliceDispatchedSucceed: EndpointSlice are dispatched successfully");
  CHECK(Writes() == before + 3);  // Two Works and a status, as upstream.
  CHECK(recorded->All().empty());
  Renew();
  REQUIRE(Reconcile().ok());
  CHECK(Writes() == before + 3);
}

TEST_CASE_METHOD(Fixture, "a slice that changes ten times a second is written once a second") {
  Put(MultiClusterService());
  Collect("m1");
  REQUIRE(Pass().ok());
  const size_t before = Writes();
  size_t collected = 0;
  for (int i = 1; i <= 30; ++i) {
    clock.Advance(absl::Milliseconds(100));
    Collect("m1", Slice("web-abc", i + 1));
    ++collected;
    const auto action = Pass();
    REQUIRE(action.ok());
    // What was not written is on its way: the pass comes back when the pause is over.
    const bool is_written = SliceIn("m2").root()["endpoints"].size() == static_cast<size_t>(i + 1);
    CHECK(is_written == (action->kind() == kube::Action::Kind::kDone));
    if (!is_written) CHECK(action->delay() <= controllers::kDispatchPause);
    Settle(api::Works());
  }
  CHECK(Writes() - before == collected + 3);
  Collect("m1", Slice("web-abc", 77));
  const auto action = Pass();
  REQUIRE(action->kind() == kube::Action::Kind::kAfter);
  clock.Advance(action->delay());
  REQUIRE(Pass().ok());
  CHECK(SliceIn("m2").root()["endpoints"].size() == 77);
}

TEST_CASE_METHOD(Fixture, "slices of one name in two clusters do not push each other out") {
  Put(MultiClusterService(R"("providerClusters": [{"name": "m1"}, {"name": "m2"}])"));
  Collect("m1");
  const kube::Object own = Collect("m2", Slice("web-abc", 2));
  const auto refused = Pass("m1");
  REQUIRE(refused.ok());
  CHECK(refused->delay() == controllers::EndpointSliceDispatchReconciler::kAfterLastingFailure);
  Settle(api::Works());
  Settle(api::MultiClusterServices());
  CHECK(SliceWorkIn("m2") == own);  // Was collected there; m1's does not take its place.
  CHECK(SliceIn("m3").name() == "m1-web-abc");
  CHECK(absl::StrContains(ConditionIs(api::kEndpointSliceDispatched),
                          "False EndpointSliceDispatchedFailed: cluster m2: "));
  const kube::Object first = SliceWorkIn("m3");
  REQUIRE(Reconcile("m2").ok());
  CHECK(SliceWorkIn("m3") == first);
  const size_t before = Writes();
  for (const char* provider : {"m1", "m2"}) REQUIRE(Reconcile(provider).ok());
  CHECK(Writes() == before);
}

TEST_CASE_METHOD(Fixture, "a slice of a thousand endpoints is dispatched whole") {
  Put(MultiClusterService());
  Collect("m1", Slice("web-abc", 1000));
  REQUIRE(Reconcile().ok());
  CHECK(SliceIn("m2").root()["endpoints"] == Slice("web-abc", 1000).root()["endpoints"]);
}

TEST_CASE_METHOD(Fixture, "what was dispatched to a cluster goes when that does not consume") {
  Put(MultiClusterService(R"("providerClusters": [{"name": "m1"}])"));
  Collect("m1");
  REQUIRE(Reconcile().ok());
  REQUIRE(IsDispatchedTo("m3"));
  SECTION("it leaves the service") {
    kube::Object service = Found();
    service.Set({"spec"}, MultiClusterService().spec());
    Put(service);
  }
  SECTION("it is removed") { EraseCached(api::Clusters(), {"", "m3"}); }
  REQUIRE(Reconcile().ok());
  CHECK(IsDispatchedTo("m2"));
  CHECK_FALSE(IsDispatchedTo("m3"));
}

TEST_CASE_METHOD(Fixture, "what was dispatched goes when nobody consumes it any more") {
  Put(MultiClusterService(R"("providerClusters": [{"name": "m1"}])"));
  kube::Object source = Collect("m1");
  REQUIRE(Reconcile().ok());
  REQUIRE(IsDispatchedTo("m2"));
  SECTION("the service is not CrossCluster any more") {
    Put(MultiClusterService(kFromM1ToM2, "LoadBalancer"));
    REQUIRE(Reconcile().ok());
  }
  SECTION("the slice is gone: its Work waits for the finalizer") {
    source.Set({"metadata", "deletionTimestamp"}, "2026-01-01T00:00:00Z");
    PutCached(api::Works(), source);
    REQUIRE(Pass().ok());  // Without a pause.
    Settle(api::Works());
    CHECK_FALSE(SliceWorkIn("m1").HasFinalizer(kDispatchFinalizer));
  }
  SECTION("only ServiceExports want the slice") {
    source.EraseLabel(api::kMultiClusterServiceNameLabel);
    source.EraseLabel(api::kMultiClusterServiceNamespaceLabel);
    source.SetLabel(api::kEndpointSliceManagedByLabel, "ServiceExport");
    source.SetLabel(api::kEndpointSliceNameLabel, "web");
    PutCached(api::Works(), source);
    REQUIRE(Reconcile().ok());
    CHECK_FALSE(SliceWorkIn("m1").HasFinalizer(kDispatchFinalizer));
    CHECK_FALSE(SliceWorkIn("m1").IsDeleting());
  }
  SECTION("its Work went without the finalizer") {
    EraseCached(api::Works(), source.key());
    seen->Note(source.key());
    REQUIRE(Reconcile().ok());
  }
  CHECK_FALSE(IsDispatchedTo("m2"));
  CHECK_FALSE(IsDispatchedTo("m3"));
}

TEST_CASE_METHOD(Fixture, "what is not there, and may come yet, keeps what was dispatched") {
  Put(MultiClusterService());
  const kube::Object source = Collect("m1");
  REQUIRE(Reconcile().ok());
  SECTION("the service: when it was deleted, its loop takes the collected Work away") {
    EraseCached(api::MultiClusterServices(), kShopWeb);
    REQUIRE(Reconcile().ok());
  }
  SECTION("the collected Work") {
    EraseCached(api::Works(), source.key());
    Renew();
    REQUIRE(Reconcile().ok());
    REQUIRE(recorded->All().size() == 1);
    CHECK(absl::StartsWith(recorded->All()[0],
                           absl::StrCat("Warning OwnerMissing Work: this was made for Work ",
                                        source.key().ToString())));
  }
  SECTION("the server fails") {
    EraseCached(api::Works(), source.key());
    seen->Note(source.key());
    server->FailNext("GET", 403, "Forbidden");
    CHECK_FALSE(Pass().ok());
  }
  CHECK(IsDispatchedTo("m2"));
}

TEST_CASE_METHOD(Fixture, "consumers that cannot take part keep what they have") {
  Put(MultiClusterService(
      R"("consumerClusters": [{"name": "m2"}, {"name": "m3"}, {"name": "m9"}])"));
  PutCached(api::Clusters(), MemberCluster("m3", "False"));
  Collect("m1");
  REQUIRE(Reconcile().ok());
  CHECK_FALSE(IsDispatchedTo("m3"));
  PutCached(api::Clusters(), MemberCluster("m2", "False"));
  PutCached(api::Clusters(), MemberCluster("m3"));
  Collect("m1", Slice("web-abc", 2));
  REQUIRE(Reconcile().ok());
  CHECK(SliceIn("m2").root()["endpoints"].size() == 1);
  CHECK(SliceIn("m3").root()["endpoints"].size() == 2);
  REQUIRE(reconciler->Reconcile({.key = kShopWeb, .reason = controllers::kReportUnfit}, {}).ok());
  CHECK(recorded->All() ==
        std::vector<std::string>{
            "Warning SyncServiceFailed MultiClusterService: Consumer cluster m2 is not ready, skip "
            "to propagate EndpointSlice",
            "Warning ClusterNotFound MultiClusterService: Consumer cluster m9 is not found"});
}

TEST_CASE_METHOD(Fixture, "the condition is about all slices of the service") {
  Put(MultiClusterService(R"("providerClusters": [{"name": "m1"}])"));
  Collect("m1");
  Collect("m1", Slice("web-xyz"));
  server->FailNext("POST", 403, "Forbidden");
  CHECK_FALSE(Reconcile().ok());
  CHECK((IsDispatchedTo("m2") != IsDispatchedTo("m3")));  // The other one is not held up.
  CHECK(absl::StartsWith(ConditionIs(api::kEndpointSliceDispatched),
                         "False EndpointSliceDispatchedFailed: cluster m"));
  REQUIRE(recorded->All().size() == 1);
  CHECK(absl::StartsWith(recorded->All()[0],
                         "Warning DispatchEndpointSliceFailed MultiClusterService: cluster m"));
  REQUIRE(Reconcile("m1", "web-xyz").ok());
  CHECK(absl::StartsWith(ConditionIs(api::kEndpointSliceDispatched), "False"));
  Renew();  // After a restart nothing is known of the slice that failed.
  REQUIRE(Reconcile("m1", "web-xyz").ok());
  CHECK(absl::StartsWith(ConditionIs(api::kEndpointSliceDispatched), "False"));
  SECTION("the failure ends") { REQUIRE(Reconcile().ok()); }
  SECTION("the slice that failed goes") {
    kube::Object source = SliceWorkIn("m1");
    source.Set({"metadata", "deletionTimestamp"}, "2026-01-01T00:00:00Z");
    PutCached(api::Works(), source);
    REQUIRE(Reconcile().ok());
  }
  SECTION("the Work of the slice that failed has gone") {
    const kube::ObjectKey source = works::WorkOfSlice("m1", {"shop", "web-abc"});
    server->Erase(api::Works(), source);
    Settle(api::Works());
    seen->Note(source);
    REQUIRE(Reconcile().ok());
  }
  CHECK(absl::StartsWith(ConditionIs(api::kEndpointSliceDispatched), "True"));
  REQUIRE(recorded->All().size() == 2);
  CHECK(absl::StartsWith(recorded->All()[1], "Normal DispatchEndpointSliceSucceed"));
}

TEST_CASE_METHOD(Fixture, "with upstream's events a dispatch is one, once per change") {
  recorded->WantRoutine();
  Put(MultiClusterService());
  Collect("m1");
  REQUIRE(Reconcile().ok());
  REQUIRE(Reconcile().ok());
  CHECK(recorded->All() ==
        std::vector<std::string>{"Normal DispatchEndpointSliceSucceed MultiClusterService: "
                                 "EndpointSlice are dispatched successfully"});
}

TEST_CASE_METHOD(Fixture, "the registered dispatching loop follows slices, services and clusters") {
  REQUIRE(controllers::RegisterEndpointSliceDispatch(Context(), 2).ok());
  // A restored backup has brought what was dispatched before its source.
  Put(MultiClusterService());
  const kube::Object stale = Collect("m3", Slice("web-old"));
  const std::string key = stale.key().ToString();
  works::WorkWriter writer(cluster);
  REQUIRE(
      writer.CreateOrUpdate(controllers::WorkForConsumer({stale, "m3", kShopWeb}, "m2"), {}).ok());
  EraseCached(api::Works(), stale.key());
  Start();
  const auto gone = [&](const kube::Object& work) { return work.empty() || work.IsDeleting(); };
  Collect("m1");
  REQUIRE(Eventually([&] { return IsDispatchedTo("m2"); }));
  CHECK_FALSE(gone(SliceWorkIn("m2", "web-old")));
  const auto reports = [&] {  // But for that of the slice whose source is missing.
    const std::vector<std::string> all = recorded->All();
    return std::count_if(all.begin(), all.end(), [](const std::string& event) {
      return !absl::StrContains(event, "OwnerMissing");
    });
  };
  const auto tick = [&](const std::function<bool()>& holds) {
    return Eventually([&] {
      clock.Advance(absl::Milliseconds(200));
      return holds();
    });
  };
  SECTION("a collected Work that goes without its finalizer") {
    PutCached(api::Works(), stale);
    server->Erase(api::Works(), stale.key());
    CHECK(tick([&] { return gone(SliceWorkIn("m2", "web-old")); }));
  }
  SECTION("a Work that somebody deletes") {
    server->Erase(api::Works(), SliceWorkIn("m2").key());
    CHECK(tick([&] { return IsDispatchedTo("m2"); }));
  }
  SECTION("a slice that changes") {
    Collect("m1", Slice("web-abc", 5));
    CHECK(tick([&] { return SliceIn("m2").root()["endpoints"].size() == 5; }));
  }
  SECTION("a condition that arrives after the pass that would have mended it") {
    const auto condition = [&] { return ConditionIs(api::kEndpointSliceDispatched); };
    REQUIRE(tick([&] { return absl::StartsWith(condition(), "True"); }));
    // The passes that what was dispatched brings come to rest.
    int ticks = 0;
    REQUIRE(tick([&] { return ++ticks > 100; }));
    kube::Object service = Found();
    service.Set({"status", "conditions"},
                Json(R"([{"type": "EndpointSliceDispatched", "status": "False",
                          "reason": "EndpointSliceDispatchedFailed", "message": "broken"}])"));
    server->Put(api::MultiClusterServices(), service);
    CHECK(tick([&] { return absl::StartsWith(condition(), "True"); }));
  }
  SECTION("another consumer") {
    kube::Object service = Found();
    service.Set({"spec", "consumerClusters"}, Json(R"([{"name": "m3"}, {"name": "m4"}])"));
    server->Put(api::MultiClusterServices(), service);
    CHECK(tick([&] { return IsDispatchedTo("m3") && gone(SliceWorkIn("m2")); }));
    CHECK(tick([&] { return reports() == 1; }));
    Join("m4");
    CHECK(tick([&] { return IsDispatchedTo("m4"); }));
  }
  SECTION("a consumer that becomes ready") {
    Join("m4", "False");
    kube::Object service = Found();
    service.Set({"spec", "consumerClusters"}, Json(R"([{"name": "m4"}])"));
    server->Put(api::MultiClusterServices(), service);
    CHECK(tick([&] { return reports() == 1; }));
    PutCached(api::Clusters(), MemberCluster("m4"));
    CHECK(tick([&] { return IsDispatchedTo("m4"); }));
  }
}

}  // namespace
}  // namespace tests
