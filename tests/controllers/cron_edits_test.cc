// Rules of a CronFederatedHPA that were edited while nobody led.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/controllers/cron_federated_hpa_fixture.h"

namespace {

using tests::Json;
using tests::kKey;
using Fixture = tests::CronFixture;
using Strings = std::vector<std::string>;

TEST_CASE_METHOD(Fixture, "a time before an edit that nobody saw does not count") {
  PutDue();
  // As a server notes who has written the rules, and who the status.
  const auto edit = [&](const std::string& rules, const std::string& time) {
    kube::Object object = server->Find(api::CronFederatedHpas(), kKey);
    object.Set({"spec", "rules"}, Json(absl::StrCat("[", rules, "]")));
    object.Set({"metadata", "managedFields"}, Json(absl::StrCat(R"([
        {"manager": "kubectl", "operation": "Update", "time": ")",
                                                                time, R"(",
         "fieldsV1": {"f:spec": {"f:rules": {}, "f:scaleTargetRef": {}}}},
        {"manager": "karmada-controller-manager", "operation": "Update", "subresource": "status",
         "time": "2024-05-01T10:02:00Z", "fieldsV1": {"f:spec": {"f:rules": {}}}}])")));
    PutCached(api::CronFederatedHpas(), object);
    Restart();
  };
  SECTION("a time of the new schedule") {
    edit(R"({"name": "up", "schedule": "1 * * * *", "timeZone": "UTC", "targetReplicas": 5})",
         "2024-05-01T10:01:30Z");
    SetClock("10:02:00");
    Wait();
    CHECK(Replicas() == 2);
    CHECK(Next() == "2024-05-01T11:01:00Z");
    CHECK(Events().empty());
  }
  SECTION("a time of both schedules") {
    edit(R"({"name": "up", "schedule": "0 * * * *", "timeZone": "UTC", "targetReplicas": 7})",
         "2024-05-01T10:01:30Z");
    SetClock("10:02:00");
    Wait();
    CHECK(Replicas() == 2);
    CHECK(Next() == "2024-05-01T11:00:00Z");
    CHECK(Events() ==
          Strings{"Warning ExecutionMissed CronFederatedHPA: Rule up was not executed at "
                  "2024-05-01T10:00:00Z: no controller manager led then or had the time, or clocks "
                  "were wrong, and the rules were edited after that, at 2024-05-01T10:01:30Z, and "
                  "a time before an edit does not count."});
  }
  SECTION("a time after the edit is made up for") {
    edit(R"({"name": "up", "schedule": "1 * * * *", "timeZone": "UTC", "targetReplicas": 5})",
         "2024-05-01T10:00:30Z");
    SetClock("10:02:00");
    Wait();
    CHECK(Replicas() == 5);
    CHECK(Next() == "2024-05-01T11:01:00Z");
  }
}

}  // namespace
