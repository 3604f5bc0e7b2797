#include "controllers/federated_quota/quota_enforcement_reconciler.h"
#include "controllers/federated_quota/register.h"

#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/binding_usage.h"
#include "tests/support/loops_fixture.h"

namespace {

using tests::Eventually;
using tests::Json;

const kube::ObjectKey kTeam = {"shop", "team"};

kube::Object Binding(const std::string& name, const std::string& cpu, int replicas) {
  kube::Object binding = kube::Object::Make(api::ResourceBindings().gvk, {"shop", name});
  binding.Set({"spec"},
              Json(absl::StrCat(R"({"replicaRequirements": {"resourceRequest": {"cpu": ")", cpu,
                                R"(", "memory": "1Gi"}}, "clusters": [{"name": "m1", "replicas": )",
                                replicas, R"(}, {"name": "m2", "replicas": 1}]})")));
  return binding;
}

std::string UsageOf(const std::string& spec) {
  kube::Object binding = kube::Object::Make(api::ResourceBindings().gvk, {"shop", "b"});
  binding.Set({"spec"}, Json(spec));
  const auto usage = api::UsageOf(api::BindingView(binding));
  return usage.ok() ? json::Write(usage->ToJson()) : std::string(usage.status().message());
}

struct Fixture : tests::LoopsFixture {
  std::optional<controllers::QuotaEnforcementReconciler> reconciler;

  Fixture() {
    Sync({api::FederatedResourceQuotas(), api::ResourceBindings()});
    Restart();
    PutQuota(R"({"cpu": "10"})");
  }
  void Restart() {
    if (!manager.has_value()) Make();
    reconciler.emplace(*manager, absl::Minutes(5));
  }
  kube::Object Quota(const std::string& overall, const std::string& status = "") {
    kube::Object quota = kube::Object::Make(api::FederatedResourceQuotas().gvk, kTeam);
    quota.Set({"spec", "overall"}, Json(overall));
    if (!status.empty()) quota.Set({"status"}, Json(status));
    return quota;
  }
  void PutQuota(const std::string& overall, const std::string& status = "") {
    PutCached(api::FederatedResourceQuotas(), Quota(overall, status));
  }
  void Put(const kube::Object& binding) { PutCached(api::ResourceBindings(), binding); }
  absl::StatusOr<kube::Action> Reconcile(kube::Reason reason = {}) {
    return reconciler->Reconcile({.key = kTeam, .reason = reason}, {});
  }
  std::string Used() const {
    const kube::Object quota = server->Find(api::FederatedResourceQuotas(), kTeam);
    return json::Write(quota.status()["overallUsed"]);
  }
  void Follow() {
    REQUIRE(
        Shows(api::FederatedResourceQuotas(), server->Find(api::FederatedResourceQuotas(), kTeam)));
  }
  size_t Writes() const { return server->Requests("PATCH").size(); }
};

}  // namespace

TEST_CASE("a binding uses what its replicas request, or its components in each cluster") {
  CHECK(UsageOf("{}") == "null");
  CHECK(UsageOf(R"({"replicaRequirements": {"resourceRequest": {"cpu": "100m", "gpu": "0"}},
                    "clusters": [{"name": "m1", "replicas": 3}, {"name": "m2", "replicas": 4}]})") ==
        R"({"cpu":"700m"})");
  CHECK(UsageOf(R"({"replicaRequirements": {"resourceRequest": {"cpu": "1"}}, "replicas": 5,
                    "clusters": [{"name": "m1"}]})") == "null");
  const std::string components = R"("components": [
      {"name": "head", "replicas": 1, "replicaRequirements": {"resourceRequest": {"cpu": "2"}}},
      {"name": "plain", "replicas": 7},
      {"name": "worker", "replicas": 3, "replicaRequirements": {"resourceRequest":
          {"cpu": "500m", "memory": "1Gi"}}}])";
  CHECK(UsageOf(absl::StrCat("{", components, "}")) == "null");
  CHECK(UsageOf(absl::StrCat(R"({"clusters": [{"name": "m1"}, {"name": "m2"}], )", components,
                             "}")) == R"({"cpu":"7","memory":"6Gi"})");
  CHECK(UsageOf(R"({"replicaRequirements": {"resourceRequest": {"cpu": "-1"}}})") ==
        "spec.replicaRequirements.resourceRequest: cpu: -1 is negative");
}

TEST_CASE_METHOD(Fixture, "what all bindings of the namespace use of the limits is added up") {
  Put(Binding("a", "500m", 2));
  Put(Binding("b", "1", 1));
  kube::Object elsewhere = Binding("c", "5", 5);
  elsewhere.Set({"metadata", "namespace"}, "other");
  Put(elsewhere);
  absl::StatusOr<kube::Action> action = Reconcile();
  REQUIRE(action.ok());
  CHECK(action->delay() == absl::Minutes(5));
  CHECK(server->Find(api::FederatedResourceQuotas(), kTeam).status() ==
        Json(R"({"overall": {"cpu": "10"}, "overallUsed": {"cpu": "3500m"}})"));
  CHECK(Writes() == 1);
  CHECK(recorded->All().empty());
  Follow();
  Restart();
  REQUIRE(Reconcile().ok());
  CHECK(Writes() == 1);
}

TEST_CASE_METHOD(Fixture, "a limit of which nothing is used stays without a number") {
  PutQuota(R"({"cpu": "10", "example.com/gpu": "4"})");
  Put(Binding("a", "1", 1));
  REQUIRE(Reconcile().ok());
  CHECK(Used() == R"({"cpu":"2"})");
}

TEST_CASE_METHOD(Fixture, "more is written at once, less when the quota has come to rest") {
  PutQuota(R"({"cpu": "10"})", R"({"overall": {"cpu": "10"}, "overallUsed": {"cpu": "4"}})");
  Put(Binding("a", "1", 1));
  absl::StatusOr<kube::Action> action = Reconcile();
  REQUIRE(action.ok());
  CHECK(action->delay() == controllers::QuotaEnforcementReconciler::kSettled);
  CHECK(Writes() == 0);
  clock.Advance(absl::Seconds(1));
  // The webhook books another binding, which is not stored yet.
  PutQuota(R"({"cpu": "10"})", R"({"overall": {"cpu": "10"}, "overallUsed": {"cpu": "5"}})");
  REQUIRE(Reconcile().ok());
  clock.Advance(absl::Seconds(1));
  action = Reconcile();
  CHECK(action->delay() == absl::Seconds(1));
  CHECK(Writes() == 0);
  Put(Binding("b", "2", 2));  // It is stored: 2 + 6.
  REQUIRE(Reconcile().ok());
  CHECK(Used() == R"({"cpu":"8"})");
}

TEST_CASE_METHOD(Fixture, "a quota that is booked all the time is lowered in the end") {
  Put(Binding("a", "1", 1));
  for (int i = 0; i < 30; ++i) {
    PutQuota(
        R"({"cpu": "100"})",
        absl::StrCat(R"({"overall": {"cpu": "100"}, "overallUsed": {"cpu": ")", 10 + i, "\"}}"));
    REQUIRE(Reconcile().ok());
    CHECK(Writes() == 0);
    clock.Advance(absl::Seconds(1));
  }
  REQUIRE(Reconcile().ok());
  CHECK(Used() == R"({"cpu":"2"})");
}

TEST_CASE_METHOD(Fixture, "a booking that comes between reading and writing is not overwritten") {
  Put(Binding("a", "1", 1));
  server->Block("WATCH");
  server->EndWatches(absl::UnavailableError("cut off"));
  kube::Object quota = server->Find(api::FederatedResourceQuotas(), kTeam);
  quota.Set({"status"}, Json(R"({"overallUsed": {"cpu": "9"}})"));
  server->Put(api::FederatedResourceQuotas(), quota);
  CHECK(absl::IsAborted(Reconcile().status()));
  CHECK(Used() == R"({"cpu":"9"})");
  server->Unblock();
}

TEST_CASE_METHOD(Fixture, "a binding that cannot be counted is named, the others are counted") {
  Put(Binding("a", "1", 1));
  Put(Binding("bad", "-3", 1));
  absl::StatusOr<kube::Action> action = Reconcile();
  REQUIRE(action.ok());
  CHECK(action->delay() == absl::Minutes(5));
  CHECK(Used() == R"({"cpu":"2"})");
  REQUIRE(recorded->All().size() == 1);
  CHECK(recorded->All()[0] ==
        "Warning CollectOverallStatusFailed FederatedResourceQuota: ResourceBinding shop/bad: "
        "spec.replicaRequirements.resourceRequest: cpu: -3 is negative");
}

TEST_CASE_METHOD(Fixture, "limits that are negative or no quantity are reported") {
  PutQuota(GENERATE(R"({"cpu": "-1"})", R"({"cpu": "much"})"));
  REQUIRE(Reconcile().ok());
  CHECK(Writes() == 0);
  REQUIRE(recorded->All().size() == 1);
  CHECK(absl::StartsWith(
      recorded->All()[0],
      "Warning CollectOverallStatusFailed FederatedResourceQuota: spec.overall: cpu: "));
}

TEST_CASE_METHOD(Fixture, "limits of what is never counted are reported once for each change") {
  PutQuota(R"({"cpu": "10", "pods": "3", "requests.cpu": "1"})");
  REQUIRE(Reconcile().ok());
  Put(Binding("a", "1", 1));
  REQUIRE(Reconcile().ok());
  REQUIRE(recorded->All().size() == 1);
  CHECK(absl::StartsWith(recorded->All()[0],
                         "Warning ResourceNotCounted FederatedResourceQuota: spec.overall limits "
                         "pods, requests.cpu, of which no workload"));
  PutQuota(R"({"cpu": "10", "pods": "3"})");
  REQUIRE(Reconcile().ok());
  CHECK(recorded->All().size() == 2);
  PutQuota(R"({"cpu": "10"})");
  REQUIRE(Reconcile().ok());
  CHECK(recorded->All().size() == 2);
}

TEST_CASE_METHOD(Fixture, "a quota that is there at the start has its limits reported") {
  PutQuota(R"({"cpu": "10", "pods": "3"})");
  REQUIRE(controllers::RegisterQuotaEnforcement(Context(), 1).ok());
  Start();
  CHECK(Eventually([&] { return recorded->All().size() == 1; }));
}

TEST_CASE_METHOD(Fixture, "the registered loop follows bindings, limits and bookings") {
  REQUIRE(controllers::RegisterQuotaEnforcement(Context(), 1).ok());
  Put(Binding("a", "1", 1));
  Start();
  CHECK(Eventually([&] { return Used() == R"({"cpu":"2"})"; }));
  Put(Binding("b", "1", 1));
  CHECK(Eventually([&] {
    clock.Advance(absl::Milliseconds(100));
    return Used() == R"({"cpu":"4"})";
  }));
  server->Put(api::FederatedResourceQuotas(),
              Quota(R"({"cpu": "20", "memory": "1Ti", "pods": "3"})"));
  CHECK(Eventually([&] { return Used() == R"({"cpu":"4","memory":"4Gi"})"; }));
  CHECK(Eventually([&] { return !recorded->All().empty(); }));
  CHECK(absl::StartsWith(recorded->All().at(0),
                         "Warning ResourceNotCounted FederatedResourceQuota: spec.overall limits "
                         "pods, of which no workload"));
  server->Erase(api::ResourceBindings(), {"shop", "a"});
  CHECK(Eventually([&] {
    clock.Advance(absl::Seconds(1));
    return Used() == R"({"cpu":"2","memory":"2Gi"})";
  }));
}

TEST_CASE_METHOD(Fixture, "a roll-out of many bindings is not added up for each of them") {
  REQUIRE(controllers::RegisterQuotaEnforcement(Context(), 2).ok());
  Put(Binding("a", "1m", 1));
  Start();
  REQUIRE(Eventually([&] { return Used() == R"({"cpu":"2m"})"; }));
  const size_t before = server->Requests("PATCH").size();
  for (int i = 0; i < 200; ++i) Put(Binding(absl::StrCat("b", i), "1m", 1));
  CHECK(Eventually([&] {
    clock.Advance(absl::Milliseconds(100));
    return Used() == R"({"cpu":"402m"})";
  }));
  // How often it is written depends on how long the writes of the bindings take.
  CHECK(server->Requests("PATCH").size() < before + 100);
}
