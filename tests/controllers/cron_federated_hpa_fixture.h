// A CronFederatedHPA whose target is a Deployment or a FederatedHPA, shortly before ten o'clock.
#ifndef TESTS_CONTROLLERS_CRON_FEDERATED_HPA_FIXTURE_H_
#define TESTS_CONTROLLERS_CRON_FEDERATED_HPA_FIXTURE_H_

#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controllers/cron_federated_hpa/cron_federated_hpa_reconciler.h"
#include "tests/support/loops_fixture.h"

namespace tests {

inline const kube::ObjectKey kKey = {"ns", "office-hours"};
inline const kube::ObjectKey kWeb = {"ns", "web"};
inline constexpr char kDeploymentRef[] =
    R"({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"})";
inline constexpr char kHourly[] =
    R"({"name": "up", "schedule": "0 * * * *", "timeZone": "UTC", "targetReplicas": 5})";

struct CronFixture : LoopsFixture {
  std::optional<controllers::CronFederatedHpaReconciler> reconciler;

  CronFixture() {
    SetClock("09:59:00");
    Sync({api::CronFederatedHpas()});
    PutWeb(2);
    reconciler.emplace(Make());
  }

  // Sets the wall clock alone.
  void SetClock(absl::string_view time_of_day) {
    clock.StepWall(*kube::ParseTime(absl::StrCat("2024-05-01T", time_of_day, "Z")) - clock.Now());
  }
  void PutWeb(int replicas) {
    kube::Object web = kube::Object::Make(kDeployments.gvk, kWeb);
    web.Set({"spec", "replicas"}, replicas);
    server->Put(kDeployments, web);
  }
  void PutHpa(int min, int max) {
    kube::Object hpa = kube::Object::Make(api::FederatedHpas().gvk, kWeb);
    hpa.Set({"spec", "minReplicas"}, min);
    hpa.Set({"spec", "maxReplicas"}, max);
    server->Put(api::FederatedHpas(), hpa);
  }
  json::Value Bounds() const { return server->Find(api::FederatedHpas(), kWeb).spec(); }
  void Put(const std::string& rules, const char* target = kDeploymentRef) {
    kube::Object object = server->Find(api::CronFederatedHpas(), kKey);
    if (object.empty()) object = kube::Object::Make(api::CronFederatedHpas().gvk, kKey);
    object.Set({"spec", "scaleTargetRef"}, Json(target));
    object.Set({"spec", "rules"}, Json(absl::StrCat("[", rules, "]")));
    PutCached(api::CronFederatedHpas(), object);
  }
  // Makes the object with a rule that is due at 10:00.
  void PutDue() {
    Put(kHourly);
    REQUIRE(Reconcile().ok());
  }
  absl::StatusOr<kube::Action> Reconcile() { return reconciler->Reconcile({.key = kKey}, {}); }
  absl::Duration Wait() {
    const absl::StatusOr<kube::Action> action = Reconcile();
    INFO(action.status());
    REQUIRE(action.ok());
    return action->kind() == kube::Action::Kind::kAfter ? action->delay()
                                                        : absl::InfiniteDuration();
  }
  // Forgets everything, as a restart does.
  void Restart() { reconciler.emplace(*manager); }

  json::Value History(size_t i = 0) const {
    return server->Find(api::CronFederatedHpas(), kKey).status()["executionHistories"].At(i);
  }
  std::string Next(size_t i = 0) const { return History(i)["nextExecutionTime"].ToString(); }
  int64_t Replicas() const { return server->Find(kDeployments, kWeb).spec()["replicas"].AsInt(); }
  std::vector<std::string> Writes() const { return server->Requests("PATCH"); }
  std::vector<std::string> Events() const { return recorded->All(); }
};

}  // namespace tests

#endif  // TESTS_CONTROLLERS_CRON_FEDERATED_HPA_FIXTURE_H_
