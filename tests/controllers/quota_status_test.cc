#include "controllers/federated_quota/quota_status_reconciler.h"
#include "controllers/federated_quota/register.h"

#include <catch2/catch.hpp>
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

struct Fixture : tests::LoopsFixture {
  std::optional<controllers::QuotaStatusReconciler> reconciler;

  Fixture() {
    Sync({api::FederatedResourceQuotas(), api::Works()});
    informers.Get(api::Works())
        ->AddIndex(controllers::kWorksByQuota, controllers::QuotaIndexValues);
    reconciler.emplace(Make(), true);
    kube::Object quota = kube::Object::Make(api::FederatedResourceQuotas().gvk, kTeam);
    quota.Set({"spec", "overall"}, Json(R"({"cpu": "10000m"})"));
    PutCached(api::FederatedResourceQuotas(), quota);
  }
  void PutWork(const std::string& cluster, const std::string& status,
               const char* applied = "True") {
    kube::Object work = kube::Object::Make(
        api::Works().gvk,
        {"karmada-es-" + cluster, api::WorkName("ResourceQuota", kTeam.name, kTeam.ns)});
    work.SetLabel(api::kQuotaNamespaceLabel, kTeam.ns);
    work.SetLabel(api::kQuotaNameLabel, kTeam.name);
    work.Set({"status"},
             Json(absl::StrCat(R"({"conditions": [{"type": "Applied", "status": ")", applied,
                               R"("}], "manifestStatuses": [{"status": )", status, "}]}")));
    PutCached(api::Works(), work);
  }
  absl::Status Reconcile() { return reconciler->Reconcile({.key = kTeam}, {}).status(); }
  json::Value Status() const {
    return server->Find(api::FederatedResourceQuotas(), kTeam).status();
  }
  void Follow() {
    REQUIRE(
        Shows(api::FederatedResourceQuotas(), server->Find(api::FederatedResourceQuotas(), kTeam)));
  }
};

constexpr char kTwo[] = R"({"hard": {"cpu": "2"}, "used": {"cpu": "1500m"}})";
constexpr char kThree[] = R"({"hard": {"cpu": "3"}, "used": {"cpu": "500m", "pods": "4"}})";

}  // namespace

TEST_CASE_METHOD(Fixture, "what clusters report is listed in their order and added up") {
  PutWork("m2", kThree);
  PutWork("m1", kTwo);
  PutWork("m3", kTwo, "False");
  PutWork("m4", "null");
  REQUIRE(Reconcile().ok());
  CHECK(Status() == Json(R"({
      "overall": {"cpu": "10"}, "overallUsed": {"cpu": "2", "pods": "4"},
      "aggregatedStatus": [
          {"clusterName": "m1", "hard": {"cpu": "2"}, "used": {"cpu": "1500m"}},
          {"clusterName": "m2", "hard": {"cpu": "3"}, "used": {"cpu": "500m", "pods": "4"}}]})"));
  CHECK(server->Requests("PATCH").size() == 1);
  CHECK(recorded->All().empty());
  Follow();
  reconciler.emplace(*manager, true);  // Forgets everything, as a restart does.
  REQUIRE(Reconcile().ok());
  CHECK(server->Requests("PATCH").size() == 1);
}

TEST_CASE_METHOD(Fixture, "where quotas are enforced the sums are not this loop's") {
  reconciler.emplace(*manager, false);
  PutWork("m1", kTwo);
  REQUIRE(Reconcile().ok());
  CHECK(Status()["aggregatedStatus"].size() == 1);
  CHECK_FALSE(Status().Has("overall"));
  CHECK_FALSE(Status().Has("overallUsed"));
}

TEST_CASE_METHOD(Fixture, "what a cluster reports goes with its Work") {
  PutWork("m1", kTwo);
  REQUIRE(Reconcile().ok());
  Follow();
  const kube::ObjectKey work = server->All(api::Works()).at(0).key();
  server->Erase(api::Works(), work);
  REQUIRE(Eventually([&] { return informers.Get(api::Works())->store().Find(work) == nullptr; }));
  REQUIRE(Reconcile().ok());
  CHECK(Status() == Json(R"({"overall": {"cpu": "10"}})"));
}

TEST_CASE_METHOD(Fixture, "a status that cannot be read leaves out its own cluster only") {
  PutWork("m1", R"({"used": {"cpu": "much"}})");
  PutWork("m2", kThree);
  const absl::Status failed = Reconcile();
  CHECK(base::IsTerminal(failed));
  CHECK(Status()["aggregatedStatus"].size() == 1);
  REQUIRE(recorded->All().size() == 1);
  CHECK(absl::StartsWith(recorded->All()[0],
                         "Warning AggregateStatusFailed FederatedResourceQuota: the status of the "
                         "ResourceQuota in cluster m1: cpu: "));
}

TEST_CASE_METHOD(Fixture, "the registered loop follows the status of the quota's Works") {
  REQUIRE(controllers::RegisterQuotaStatus(Context(), 1).ok());
  Start();
  CHECK(Eventually([&] { return Status()["overall"]["cpu"].AsString() == "10"; }));
  PutWork("m1", "null", "False");
  PutWork("m1", kTwo);
  CHECK(Eventually([&] { return Status()["overallUsed"]["cpu"].AsString() == "1500m"; }));
  PutWork("m1", kThree);
  CHECK(Eventually([&] { return Status()["overallUsed"]["cpu"].AsString() == "500m"; }));
}
