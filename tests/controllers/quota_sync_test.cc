#include "controllers/federated_quota/quota_sync_reconciler.h"
#include "controllers/federated_quota/register.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/names.h"
#include "controllers/federated_quota/quota_works.h"
#include "tests/support/loops_fixture.h"

namespace {

using tests::Eventually;
using tests::Json;

const kube::ObjectKey kTeam = {"shop", "team"};

kube::Object Quota(const std::string& assignments) {
  kube::Object quota = kube::Object::Make(api::FederatedResourceQuotas().gvk, kTeam);
  quota.Set({"spec", "overall"}, Json(R"({"cpu": "10"})"));
  quota.Set({"spec", "staticAssignments"}, Json(absl::StrCat("[", assignments, "]")));
  return quota;
}

std::string For(const std::string& cluster, const std::string& hard) {
  return absl::StrCat(R"({"clusterName": ")", cluster, R"(", "hard": )", hard, "}");
}

struct Fixture : tests::LoopsFixture {
  const std::shared_ptr<controllers::SeenDeletions> seen =
      std::make_shared<controllers::SeenDeletions>();
  std::optional<controllers::QuotaSyncReconciler> reconciler;

  Fixture() {
    Sync({api::FederatedResourceQuotas(), api::Clusters(), api::Namespaces(), api::Works()});
    informers.Get(api::Works())
        ->AddIndex(controllers::kWorksByQuota, controllers::QuotaIndexValues);
    for (const char* name : {"m1", "m2"}) Join(name);
    reconciler.emplace(Make(), seen);
  }
  void Join(const std::string& name) {
    PutCached(api::Clusters(), kube::Object::Make(api::Clusters().gvk, {"", name}));
    PutCached(api::Namespaces(),
              kube::Object::Make(api::Namespaces().gvk, {"", absl::StrCat("karmada-es-", name)}));
  }
  void Put(const kube::Object& quota) { PutCached(api::FederatedResourceQuotas(), quota); }
  absl::Status Reconcile(kube::Reason reason = {}) {
    return reconciler->Reconcile({.key = kTeam, .reason = reason}, {}).status();
  }
  kube::Object WorkIn(const std::string& cluster) const {
    return server->Find(api::Works(), {"karmada-es-" + cluster,
                                       api::WorkName("ResourceQuota", kTeam.name, kTeam.ns)});
  }
  json::Value HardIn(const std::string& cluster) const {
    const kube::Object work = WorkIn(cluster);
    return work.Get({"spec", "workload", "manifests"}).At(0)["spec"]["hard"];
  }
  size_t Writes() const {
    return server->Requests("PATCH").size() + server->Requests("POST").size() +
           server->Requests("DELETE").size();
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "each assigned cluster gets its ResourceQuota, others get none") {
  Put(Quota(For("m1", R"({"cpu": "1000m", "pods": 5})")));
  REQUIRE(Reconcile().ok());
  const kube::Object work = WorkIn("m1");
  CHECK(work.Label(api::kQuotaNamespaceLabel) == "shop");
  CHECK(work.Label(api::kQuotaNameLabel) == "team");
  CHECK(work.HasFinalizer(api::kExecutionFinalizer));
  CHECK(work.OwnerRefs().empty());
  const kube::Object manifest(work.Get({"spec", "workload", "manifests"}).At(0));
  CHECK(manifest.Describe() == "ResourceQuota shop/team");
  CHECK(manifest.spec() == Json(R"({"hard": {"cpu": "1", "pods": "5"}})"));
  CHECK(WorkIn("m2").empty());
  CHECK(Writes() == 1);
  CHECK(recorded->All().empty());  // The Work shows it.

  reconciler.emplace(*manager, seen);  // Forgets everything, as a restart does.
  REQUIRE(Reconcile().ok());
  CHECK(Writes() == 1);
}

TEST_CASE_METHOD(Fixture, "with upstream's events a success is one, once per change") {
  recorded->WantRoutine();
  Put(Quota(For("m1", R"({"cpu": "1"})")));
  REQUIRE(Reconcile().ok());
  REQUIRE(Reconcile().ok());
  CHECK(recorded->All() ==
        std::vector<std::string>{"Normal SyncWorkSucceed FederatedResourceQuota: Sync works for "
                                 "FederatedResourceQuota(shop/team) succeed."});
}

TEST_CASE_METHOD(Fixture, "Works go with their assignment and with the quota") {
  Put(Quota(absl::StrCat(For("m1", R"({"cpu": "1"})"), ",", For("m2", R"({"cpu": "2"})"))));
  REQUIRE(Reconcile().ok());
  REQUIRE(Shows(api::Works(), WorkIn("m1")));
  REQUIRE(Shows(api::Works(), WorkIn("m2")));
  kube::Object other = kube::Object::Make(api::Works().gvk, {"karmada-es-m1", "other"});
  PutCached(api::Works(), other);

  const auto is_gone = [&](const char* cluster) {
    const kube::Object work = WorkIn(cluster);
    return work.empty() || work.IsDeleting();
  };
  SECTION("an assignment goes") {
    Put(Quota(For("m2", R"({"cpu": "3"})")));
    REQUIRE(Reconcile().ok());
    CHECK(is_gone("m1"));
    CHECK(HardIn("m2") == Json(R"({"cpu": "3"})"));
  }
  const auto erase_quota = [&] {
    server->Erase(api::FederatedResourceQuotas(), kTeam);
    REQUIRE(Eventually([&] {
      return informers.Get(api::FederatedResourceQuotas())->store().Find(kTeam) == nullptr;
    }));
  };
  SECTION("the quota goes") {
    erase_quota();
    seen->Note(kTeam);
    REQUIRE(Reconcile().ok());
    CHECK(is_gone("m1"));
    CHECK(is_gone("m2"));
  }
  SECTION("the quota is not there: a restored backup may bring it yet") {
    erase_quota();
    for (const char* cluster : {"m1", "m2"}) {
      kube::Object young = WorkIn(cluster);
      young.Set({"metadata", "creationTimestamp"}, kube::FormatTime(clock.Now()));
      PutCached(api::Works(), young);
    }
    const auto young = reconciler->Reconcile({.key = kTeam}, {});
    REQUIRE(young.ok());
    CHECK(young->delay() > absl::ZeroDuration());
    CHECK(recorded->All().empty());
    clock.Advance(controllers::kOwnerPatience);
    REQUIRE(Reconcile().ok());
    CHECK_FALSE(is_gone("m1"));
    CHECK_FALSE(is_gone("m2"));
    REQUIRE(recorded->All().size() == 2);
    CHECK(absl::StartsWith(recorded->All()[0],
                           "Warning OwnerMissing Work: this was made for FederatedResourceQuota "
                           "shop/team, which is not there. It stays"));
  }
  CHECK_FALSE(server->Find(api::Works(), {"karmada-es-m1", "other"}).empty());
}

TEST_CASE_METHOD(Fixture,
                 "limits that no member accepts are reported, and nothing is tried again") {
  const std::string bad = GENERATE(R"({"cpu": "-1"})", R"({"cpu": "much"})");
  Put(Quota(absl::StrCat(For("m1", bad), ",", For("m2", R"({"cpu": "2"})"))));
  const absl::Status failed = Reconcile();
  CHECK(base::IsTerminal(failed));
  CHECK(absl::StrContains(failed.message(), "cluster m1: spec.staticAssignments.hard: cpu: "));
  CHECK(WorkIn("m1").empty());
  CHECK(HardIn("m2") == Json(R"({"cpu": "2"})"));
  REQUIRE(recorded->All().size() == 1);
  CHECK(absl::StartsWith(recorded->All()[0],
                         "Warning SyncWorkFailed FederatedResourceQuota: cluster m1: "));
  Put(Quota(For("m1", R"({"cpu": "1"})")));
  CHECK(Reconcile().ok());
  CHECK(recorded->All().size() == 2);  // The success that ends the failure.
}

TEST_CASE_METHOD(Fixture, "a cluster that refuses does not keep others from their quota") {
  Put(Quota(absl::StrCat(For("m1", R"({"cpu": "1"})"), ",", For("m2", R"({"cpu": "2"})"))));
  server->FailNext("POST", 403, "Forbidden");
  const absl::Status failed = Reconcile();
  CHECK_FALSE(failed.ok());
  CHECK_FALSE(base::IsTerminal(failed));
  CHECK((WorkIn("m1").empty() != WorkIn("m2").empty()));
}

TEST_CASE_METHOD(Fixture, "the registered loop follows quotas, clusters and its own Works") {
  REQUIRE(controllers::RegisterQuotaSync(Context(), 1).ok());
  // A restored backup has brought it before its quota, or that was deleted while nobody ran.
  kube::Object orphan = kube::Object::Make(api::Works().gvk, {"karmada-es-m1", "orphan"});
  orphan.SetLabel(api::kQuotaNamespaceLabel, "shop");
  orphan.SetLabel(api::kQuotaNameLabel, "gone");
  PutCached(api::Works(), orphan);
  Put(Quota(For("m9", R"({"cpu": "9"})")));
  const auto said = [&](absl::string_view text) {
    const std::vector<std::string> all = recorded->All();
    return std::count_if(all.begin(), all.end(),
                         [&](const std::string& event) { return absl::StartsWith(event, text); });
  };
  Start();
  // What the loop sees from then on is a change, and not there since before the start.
  CHECK(Eventually([&] { return said("Warning OwnerMissing Work: ") == 1; }));
  Put(Quota(absl::StrCat(For("m1", R"({"cpu": "1"})"), ",", For("m9", R"({"cpu": "9"})"))));
  CHECK(Eventually([&] { return !WorkIn("m1").empty(); }));
  CHECK(Eventually([&] {
    return said(
               "Warning ClusterNotFound FederatedResourceQuota: there is no cluster m9, which "
               "spec.staticAssignments[1].clusterName names") == 1;
  }));
  CHECK(recorded->All().size() == 2);  // The quota was there before the first start.
  CHECK_FALSE(server->Find(api::Works(), orphan.key()).empty());
  server->Erase(api::Works(), WorkIn("m1").key());
  CHECK(Eventually([&] { return !WorkIn("m1").empty(); }));
  Join("m9");
  CHECK(Eventually([&] { return HardIn("m9") == Json(R"({"cpu": "9"})"); }));

  // The one that comes is no reason to keep its Works when it goes.
  kube::Object late = Quota("");
  late.Set({"metadata", "name"}, "gone");
  late.Set({"spec", "staticAssignments"},
           Json(absl::StrCat("[", For("m1", R"({"cpu": "1"})"), "]")));
  PutCached(api::FederatedResourceQuotas(), late);
  server->Erase(api::FederatedResourceQuotas(), late.key());
  CHECK(Eventually([&] { return server->Find(api::Works(), orphan.key()).empty(); }));
}
