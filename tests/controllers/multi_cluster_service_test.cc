#include "api/object_reference.h"
#include "controllers/multi_cluster_service/multi_cluster_service_reconciler.h"
#include "controllers/multi_cluster_service/register.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/policy_scope.h"
#include "controllers/multi_cluster_service/unfit_clusters.h"
#include "tests/controllers/multi_cluster_service_fixture.h"

namespace tests {
namespace {

using controllers::MultiClusterServiceReconciler;

const kube::ObjectKey kBindingKey = {"shop", "web-service"};

struct Fixture : MultiClusterServiceFixture {
  std::shared_ptr<controllers::ServiceEdits> edits;
  std::shared_ptr<controllers::SeenDeletions> seen;
  std::optional<MultiClusterServiceReconciler> reconciler;

  Fixture() { Renew(); }
  // Forgets everything, as a restart does.
  void Renew() {
    edits = std::make_shared<controllers::ServiceEdits>();
    seen = std::make_shared<controllers::SeenDeletions>();
    reconciler.emplace(MultiClusterServiceReconciler::Deps{
        *manager, rechecks, edits, std::make_shared<controllers::DeterminedConditions>(), seen});
  }
  void Put(const kube::Object& service) { PutCached(api::MultiClusterServices(), service); }
  // Changes the spec of the service that is there.
  void Edit(const kube::Object& wanted) {
    kube::Object service = Found();
    service.Set({"spec"}, wanted.spec());
    Put(service);
  }
  absl::Status Reconcile() {
    const absl::Status result = reconciler->Reconcile({.key = kShopWeb}, {}).status();
    SettleAll();
    return result;
  }
  void Report(const std::string& cluster = "") {
    REQUIRE(reconciler
                ->Reconcile(
                    {.key = kShopWeb, .cluster = cluster, .reason = controllers::kReportUnfit}, {})
                .ok());
  }
  kube::Object Target() const { return server->Find(api::Services(), kShopWeb); }
  kube::Object Binding() const { return server->Find(api::ResourceBindings(), kBindingKey); }
};

TEST_CASE_METHOD(Fixture, "a service gets Works for its providers, its Service and a binding") {
  PutService();
  Put(MultiClusterService());
  REQUIRE(Reconcile().ok());

  CHECK(Found().HasFinalizer(api::kMultiClusterServiceFinalizer));
  const kube::Object work = ServiceWorkIn("m1");
  CHECK(work.labels() == Json(R"({"multiclusterservice.karmada.io/namespace": "shop",
      "multiclusterservice.karmada.io/name": "web",
      "multiclusterservice.karmada.io/permanent-id": "mcs-id"})"));
  CHECK(work.metadata()["finalizers"].empty());
  CHECK(work.spec()["suspendDispatching"].AsBool());
  const kube::Object manifest(work.Get({"spec", "workload", "manifests"}).At(0));
  CHECK(manifest.Describe() == "MultiClusterService shop/web");
  CHECK(manifest.spec() == Found().spec());
  CHECK(ServiceWorkIn("m2").empty());

  CHECK(api::IsClaimedService(Target()));
  const kube::Object binding = Binding();
  CHECK(binding.labels() == Json(R"({"binding.karmada.io/managed-by": "MultiClusterService",
      "multiclusterservice.karmada.io/permanent-id": "mcs-id"})"));
  CHECK(binding.HasFinalizer(api::kBindingFinalizer));
  REQUIRE(binding.OwnerRefs().size() == 1);
  CHECK(binding.OwnerRefs()[0].uid == Target().uid());
  CHECK_FALSE(binding.OwnerRefs()[0].controller);
  CHECK(binding.spec()["placement"] ==
        Json(R"({"clusterAffinity": {"clusterNames": ["m1", "m2"]}})"));
  CHECK(binding.spec()["conflictResolution"].ToString() == "Overwrite");
  CHECK(binding.spec()["resource"]["resourceVersion"].ToString() == Target().resource_version());
  CHECK(ConditionIs(api::kServiceApplied) ==
        "True ServiceAppliedSucceed: Service is propagated to target clusters.");
  CHECK(Writes() == 5);  // Finalizer, Work, Service, binding, status; upstream's first pass, too.
  CHECK(recorded->All().empty());

  Renew();
  REQUIRE(Reconcile().ok());
  CHECK(Writes() == 5);
}

TEST_CASE_METHOD(Fixture, "without names all clusters provide and consume, in a fixed order") {
  PutService();
  Put(MultiClusterService(""));
  REQUIRE(Reconcile().ok());
  for (const char* name : {"m1", "m2", "m3"}) CHECK_FALSE(ServiceWorkIn(name).empty());
  CHECK(Binding().spec()["placement"] ==
        Json(R"({"clusterAffinity": {"clusterNames": ["m1", "m2", "m3"]}})"));
}

TEST_CASE_METHOD(Fixture, "the same clusters in the order that upstream has written them stay") {
  PutService();
  Put(MultiClusterService());
  REQUIRE(Reconcile().ok());
  const auto put = [&](const char* names) {
    kube::Object binding = Binding();
    binding.Set({"spec", "placement", "clusterAffinity", "clusterNames"}, Json(names));
    PutCached(api::ResourceBindings(), binding);
    const int before = Writes();
    REQUIRE(Reconcile().ok());
    return Writes() - before;
  };
  CHECK(put(R"(["m2", "m1"])") == 0);
  // Neither are these the same clusters.
  CHECK(put(R"(["m2"])") == 1);
  CHECK(put(R"(["m2", "m3"])") == 1);
  CHECK(put(R"(["m2", "m1", "m1"])") == 1);
  CHECK(Binding().spec()["placement"] ==
        Json(R"({"clusterAffinity": {"clusterNames": ["m1", "m2"]}})"));
}

TEST_CASE_METHOD(Fixture, "what the scheduler and others have written stays") {
  PutService();
  Put(MultiClusterService());
  REQUIRE(Reconcile().ok());
  kube::Object binding = Binding();
  binding.Set({"spec", "clusters"}, Json(R"([{"name": "m1"}])"));
  binding.SetAnnotation("policy.karmada.io/applied-placement", "{}");
  binding.AddFinalizer(api::kDependenciesFinalizer);
  // The dependencies distributor makes the Service the controlling owner.
  json::Value owners = binding.metadata()["ownerReferences"];
  owners.MutableAt(0).Set("controller", true);
  binding.Set({"metadata", "ownerReferences"}, owners);
  PutCached(api::ResourceBindings(), binding);
  Edit(MultiClusterService(R"("providerClusters": [{"name": "m3"}, {"name": "m1"}])"));
  REQUIRE(Reconcile().ok());
  CHECK(Binding().spec()["placement"] ==
        Json(R"({"clusterAffinity": {"clusterNames": ["m1", "m2", "m3"]}})"));
  CHECK(Binding().spec()["clusters"] == binding.spec()["clusters"]);
  CHECK(Binding().annotations() == binding.annotations());
  CHECK(Binding().metadata()["finalizers"] == binding.metadata()["finalizers"]);
  CHECK(Binding().metadata()["ownerReferences"] == owners);
}

TEST_CASE_METHOD(Fixture, "a Service is taken over from its policy") {
  kube::Object policy = kube::Object::Make(api::PropagationPolicies().gvk, {"shop", "all"});
  policy.SetLabel(api::kPropagationPolicyIdLabel, "policy-id");
  kube::Object target = PutService();
  api::policy_scope::Namespaced::Claim(policy, target);
  PutCached(api::Services(), target);
  kube::Object binding = kube::Object::Make(api::ResourceBindings().gvk, kBindingKey);
  api::policy_scope::Namespaced::Claim(policy, binding);
  binding.Set({"spec", "schedulerName"}, "default-scheduler");
  PutCached(api::ResourceBindings(), binding);
  Put(MultiClusterService());
  REQUIRE(Reconcile().ok());
  CHECK(api::policy_scope::Namespaced::ClaimOn(Target()).name.empty());
  CHECK(api::policy_scope::Namespaced::ClaimOn(Binding()).name.empty());
  CHECK(api::IsClaimedBinding(Binding()));
  CHECK(Binding().spec()["schedulerName"].ToString() == "default-scheduler");
}

TEST_CASE_METHOD(Fixture,
                 "an edit of the Service moves the recorded version, its status does not") {
  PutService();
  Put(MultiClusterService());
  REQUIRE(Reconcile().ok());
  const std::string recorded_version = Binding().spec()["resource"]["resourceVersion"].ToString();
  kube::WorkQueue queue({.name = "bindings"}, clock);
  rechecks.Subscribe(api::ResourceBindings(), queue);
  kube::Object target = Target();
  target.Set({"status", "loadBalancer"}, Json("{}"));
  target = PutCached(api::Services(), target);
  const size_t writes = Writes();
  REQUIRE(Reconcile().ok());
  CHECK(Writes() == writes);
  CHECK(queue.size() == 1);  // The loops that render templates are asked to look.

  edits->Add(target);
  REQUIRE(Reconcile().ok());
  CHECK(Writes() == writes + 1);
  CHECK(Binding().spec()["resource"]["resourceVersion"].ToString() == target.resource_version());
  CHECK(recorded_version != target.resource_version());
}

TEST_CASE_METHOD(Fixture, "a Service that does not exist is named once and keeps nothing else") {
  Put(MultiClusterService());
  const absl::Status failed = Reconcile();
  CHECK(base::IsTerminal(failed));
  CHECK(ConditionIs(api::kServiceApplied) ==
        "False ServiceAppliedFailed: Service \"web\" not found");
  CHECK(recorded->All() ==
        std::vector<std::string>{
            "Warning SyncServiceFailed MultiClusterService: Service \"web\" not found"});
  CHECK_FALSE(ServiceWorkIn("m1").empty());
  const size_t writes = Writes();
  Renew();
  CHECK_FALSE(Reconcile().ok());
  CHECK(Writes() == writes);
  CHECK(recorded->All().size() == 1);

  PutService();
  REQUIRE(Reconcile().ok());
  CHECK(recorded->All().size() == 2);
  CHECK(recorded->All().back() ==
        "Normal SyncServiceSucceed MultiClusterService: Service is propagated to target clusters.");
}

TEST_CASE_METHOD(Fixture, "clusters that cannot take part keep their Work and get none") {
  PutService();
  Put(MultiClusterService(
      R"("providerClusters": [{"name": "m1"}, {"name": "m2"}, {"name": "m9"}])"));
  PutCached(api::Clusters(), MemberCluster("m2", "False"));
  REQUIRE(Reconcile().ok());
  CHECK_FALSE(ServiceWorkIn("m1").empty());
  CHECK(ServiceWorkIn("m2").empty());
  CHECK(Binding().spec()["placement"] ==
        Json(R"({"clusterAffinity": {"clusterNames": ["m1", "m2", "m3", "m9"]}})"));
  PutCached(api::Clusters(), MemberCluster("m1", "False"));
  PutCached(api::Clusters(), MemberCluster("m2"));
  REQUIRE(Reconcile().ok());
  CHECK_FALSE(ServiceWorkIn("m1").empty());
  CHECK_FALSE(ServiceWorkIn("m2").empty());

  Report();
  CHECK(recorded->All() ==
        std::vector<std::string>{
            "Warning SyncServiceFailed MultiClusterService: Provider cluster m1 is not ready, skip "
            "to propagate MultiClusterService",
            "Warning ClusterNotFound MultiClusterService: Provider cluster m9 is not found"});
  Report("m9");
  Report("m2");
  CHECK(recorded->All().size() == 3);
}

TEST_CASE_METHOD(Fixture, "a cluster that is no provider any more loses what was collected there") {
  PutService();
  Put(MultiClusterService(R"("providerClusters": [{"name": "m1"}, {"name": "m2"}])"));
  REQUIRE(Reconcile().ok());
  Collect("m1");
  Collect("m2");
  Edit(MultiClusterService());
  REQUIRE(Reconcile().ok());
  CHECK(ServiceWorkIn("m2").empty());
  CHECK(SliceWorkIn("m2").IsDeleting());  // The dispatching loop has to look first.
  CHECK_FALSE(ServiceWorkIn("m1").empty());
  CHECK_FALSE(SliceWorkIn("m1").IsDeleting());
}

TEST_CASE_METHOD(Fixture, "everything is given back, however the service ends") {
  PutService();
  const kube::Object target = Target();
  Put(MultiClusterService());
  REQUIRE(Reconcile().ok());
  Collect("m1");
  const auto is_given_back = [&] {
    CHECK(ServiceWorkIn("m1").empty());
    CHECK(SliceWorkIn("m1").IsDeleting());
    CHECK(Target().labels() == target.labels());
    CHECK(Target().annotations() == target.annotations());
    CHECK_FALSE(Binding().empty());
    CHECK(Binding().labels().empty());
    CHECK(Binding().annotations().empty());
  };
  SECTION("it is deleted") {
    kube::Object service = Found();
    service.Set({"metadata", "deletionTimestamp"}, "2026-01-01T00:00:00Z");
    Put(service);
    const absl::Status result = Reconcile();
    INFO(result);
    REQUIRE(result.ok());
    is_given_back();
    CHECK_FALSE(Found().HasFinalizer(api::kMultiClusterServiceFinalizer));
  }
  SECTION("it is not CrossCluster any more") {
    Edit(MultiClusterService(kFromM1ToM2, "LoadBalancer"));
    const absl::Status result = Reconcile();
    INFO(result);
    REQUIRE(result.ok());
    is_given_back();
    CHECK_FALSE(Found().HasFinalizer(api::kMultiClusterServiceFinalizer));
    CHECK(ConditionIs(api::kServiceApplied).empty());
    const size_t writes = Writes();
    REQUIRE(Reconcile().ok());
    CHECK(Writes() == writes);
  }
  SECTION("it is gone without its finalizer") {
    EraseCached(api::MultiClusterServices(), kShopWeb);
    seen->Note(kShopWeb);
    REQUIRE(Reconcile().ok());
    is_given_back();
  }
}

TEST_CASE_METHOD(Fixture, "a service that is not there, and may come yet, keeps everything") {
  PutService();
  Put(MultiClusterService());
  REQUIRE(Reconcile().ok());
  Collect("m1");
  EraseCached(api::MultiClusterServices(), kShopWeb);
  SECTION("a restored backup may bring it") {
    Renew();
    REQUIRE(Reconcile().ok());
    CHECK(recorded->All().size() == 2);  // Its Work, and that of the slice.
    CHECK(absl::StartsWith(recorded->All().back(),
                           "Warning OwnerMissing Work: this was made for MultiClusterService "
                           "shop/web, which is not there."));
  }
  SECTION("the server fails") {
    seen->Note(kShopWeb);
    server->FailNext("GET", 403, "Forbidden");
    CHECK_FALSE(reconciler->Reconcile({.key = kShopWeb}, {}).ok());
  }
  CHECK_FALSE(ServiceWorkIn("m1").empty());
  CHECK_FALSE(SliceWorkIn("m1").IsDeleting());
  CHECK(api::IsClaimedService(Target()));
}

TEST_CASE_METHOD(Fixture, "a Service that somebody else has claimed is not released") {
  kube::Object target = PutService();
  target.SetLabel(api::kClaimedByLabel, "Somebody");
  PutCached(api::Services(), target);
  REQUIRE(Reconcile().ok());
  CHECK(Target().Label(api::kClaimedByLabel) == "Somebody");
  CHECK(Writes() == 0);
}

TEST_CASE_METHOD(Fixture, "a binding that is being deleted is awaited") {
  PutService();
  kube::Object binding = kube::Object::Make(api::ResourceBindings().gvk, kBindingKey);
  binding.AddFinalizer(api::kBindingFinalizer);
  binding.Set({"metadata", "deletionTimestamp"}, "2026-01-01T00:00:00Z");
  PutCached(api::ResourceBindings(), binding);
  Put(MultiClusterService());
  CHECK(base::IsTerminal(Reconcile()));
  CHECK(absl::StrContains(ConditionIs(api::kServiceApplied), "is being deleted"));
  EraseCached(api::ResourceBindings(), kBindingKey);
  CHECK(Reconcile().ok());
}

TEST_CASE_METHOD(Fixture, "the end of a binding that a policy had brings that of the service") {
  REQUIRE(controllers::RegisterMultiClusterService(Context(), 1).ok());
  PutService();
  kube::Object binding = kube::Object::Make(api::ResourceBindings().gvk, kBindingKey);
  binding.Set({"spec", "resource"}, api::ObjectReference::Of(ShopService()).ToJson());
  binding.AddFinalizer(api::kBindingFinalizer);
  binding.Set({"metadata", "deletionTimestamp"}, "2026-01-01T00:00:00Z");
  PutCached(api::ResourceBindings(), binding);
  Put(MultiClusterService());
  Start();
  REQUIRE(Eventually(
      [&] { return absl::StrContains(ConditionIs(api::kServiceApplied), "is being deleted"); }));
  server->Erase(api::ResourceBindings(), kBindingKey);
  CHECK(Eventually([&] { return api::IsClaimedBinding(Binding()); }));
}

TEST_CASE_METHOD(Fixture, "the registered loop follows the service and all that it has made") {
  REQUIRE(controllers::RegisterMultiClusterService(Context(), 1).ok());
  // A restored backup has brought it before the service that has claimed it.
  kube::Object orphan = kube::Object::Make(api::Services().gvk, {"shop", "old"});
  kube::Object gone = kube::Object::Make(api::MultiClusterServices().gvk, orphan.key());
  api::ClaimService(gone, orphan);
  PutCached(api::Services(), orphan);
  Put(MultiClusterService());
  Start();
  CHECK(Eventually([&] { return absl::StartsWith(ConditionIs(api::kServiceApplied), "False"); }));
  server->Put(api::Services(), ShopService());
  REQUIRE(Eventually([&] { return absl::StartsWith(ConditionIs(api::kServiceApplied), "True"); }));
  CHECK(api::IsClaimedService(server->Find(api::Services(), orphan.key())));
  SECTION("a service that goes without its finalizer") {
    PutCached(api::MultiClusterServices(), gone);
    server->Erase(api::MultiClusterServices(), gone.key());
    CHECK(Eventually(
        [&] { return !api::IsClaimedService(server->Find(api::Services(), orphan.key())); }));
  }
  SECTION("a Work that somebody deletes") {
    server->Erase(api::Works(), ServiceWorkIn("m1").key());
    CHECK(Eventually([&] { return !ServiceWorkIn("m1").empty(); }));
  }
  SECTION("a binding that somebody deletes, or places again") {
    server->Erase(api::ResourceBindings(), kBindingKey);
    REQUIRE(Eventually([&] { return !Binding().empty(); }));
    kube::Object binding = Binding();
    binding.Set({"spec", "placement"}, Json("{}"));
    server->Put(api::ResourceBindings(), binding);
    CHECK(Eventually([&] { return !Binding().spec()["placement"].empty(); }));
  }
  SECTION("a claim that a policy writes over") {
    kube::Object target = Target();
    target.SetLabel(api::kPropagationPolicyIdLabel, "p");
    server->Put(api::Services(), target);
    CHECK(Eventually([&] { return Target().Label(api::kPropagationPolicyIdLabel).empty(); }));
  }
  SECTION("a condition that arrives after the pass that would have mended it") {
    // The answer to its write was lost, and the next pass saw a cache without it.
    kube::Object service = Found();
    service.Set({"status", "conditions"}, Json(R"([{"type": "ServiceApplied", "status": "False",
        "reason": "ServiceAppliedFailed", "message": "the connection broke"}])"));
    server->Put(api::MultiClusterServices(), service);
    CHECK(Eventually([&] {
      clock.Advance(absl::Milliseconds(100));
      return absl::StartsWith(ConditionIs(api::kServiceApplied), "True");
    }));
  }
  SECTION("an edit of the Service") {
    kube::Object target = Target();
    target.Set({"spec", "ports"}, Json(R"([{"port": 81}])"));
    const std::string version(server->Put(api::Services(), target).resource_version());
    CHECK(Eventually(
        [&] { return Binding().spec()["resource"]["resourceVersion"].ToString() == version; }));
  }
  SECTION("a service without names, and a cluster that comes") {
    kube::Object service = Found();
    service.Set({"spec"}, MultiClusterService("").spec());
    server->Put(api::MultiClusterServices(), service);
    REQUIRE(Eventually([&] { return !ServiceWorkIn("m3").empty(); }));
    Join("m4");
    CHECK(Eventually([&] { return !ServiceWorkIn("m4").empty(); }));
  }
  SECTION("a provider that turns unready, and ready again") {
    const auto times = [&](absl::string_view text) {
      const std::vector<std::string> all = recorded->All();
      return std::count_if(all.begin(), all.end(), [&](const std::string& event) {
        return absl::StrContains(event, text);
      });
    };
    PutCached(api::Clusters(), MemberCluster("m1", "False"));
    CHECK(Eventually([&] { return times("Provider cluster m1 is not ready") == 1; }));
    PutCached(api::Clusters(), MemberCluster("m1", "True"));
    EraseCached(api::Clusters(), {"", "m1"});
    CHECK(Eventually([&] { return times("Provider cluster m1 is not found") == 1; }));
  }
}

}  // namespace
}  // namespace tests
