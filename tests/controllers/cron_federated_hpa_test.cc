#include "controllers/cron_federated_hpa/cron_federated_hpa_reconciler.h"
#include "controllers/cron_federated_hpa/register.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/controllers/cron_federated_hpa_fixture.h"

namespace {

using tests::Json;
using tests::kDeploymentRef;
using tests::kDeployments;
using tests::kHourly;
using tests::kKey;
using tests::kWeb;
using Fixture = tests::CronFixture;
using Strings = std::vector<std::string>;

constexpr char kHpaRef[] =
    R"({"apiVersion": "autoscaling.karmada.io/v1alpha1", "kind": "FederatedHPA", "name": "web"})";

constexpr char kStatusWrite[] =
    "PATCH /apis/autoscaling.karmada.io/v1alpha1/namespaces/ns/cronfederatedhpas/office-hours/"
    "status";
constexpr char kScaleWrite[] = "PATCH /apis/apps/v1/namespaces/ns/deployments/web/scale";

TEST_CASE_METHOD(Fixture, "metrics of rules begin at zero, so that the first failure is a rise") {
  const std::string metrics = registry.Expose();
  for (const char* result : {"success", "error"}) {
    CHECK(absl::StrContains(
        metrics, absl::StrCat(R"(cronfederatedhpa_rule_process_duration_seconds_count{result=")",
                              result, R"("} 0)")));
  }
}

TEST_CASE_METHOD(Fixture, "a new rule gets its next time, by one write, and is not executed") {
  Put(kHourly);
  CHECK(Wait() == absl::Minutes(1));
  CHECK(History() == Json(R"({"ruleName": "up", "nextExecutionTime": "2024-05-01T10:00:00Z"})"));
  CHECK(Replicas() == 2);
  Restart();
  CHECK(Wait() == absl::Minutes(1));
  CHECK(Writes() == Strings{kStatusWrite});
  CHECK(Events().empty());
}

TEST_CASE_METHOD(Fixture, "a rule is executed at its time, once") {
  PutDue();
  SetClock("09:59:59");
  CHECK(Wait() == absl::Seconds(1));
  CHECK(Replicas() == 2);
  SetClock("10:00:00");
  CHECK(Wait() == absl::Minutes(1));
  CHECK(Replicas() == 5);
  CHECK(History() == Json(R"({"ruleName": "up", "nextExecutionTime": "2024-05-01T11:00:00Z",
      "successfulExecutions": [{"scheduleTime": "2024-05-01T10:00:00Z", "appliedReplicas": 5,
                                "executionTime": "2024-05-01T10:00:00Z"}]})"));
  PutWeb(3);  // Somebody scales by hand.
  Restart();
  Wait();
  CHECK(Replicas() == 3);
  CHECK(Writes() == Strings{kStatusWrite, kScaleWrite, kStatusWrite});
  CHECK(Events().empty());
  const std::string metrics = registry.Expose();
  CHECK(absl::StrContains(
      metrics, R"(cronfederatedhpa_rule_process_duration_seconds_count{result="success"} 1)"));
  CHECK(absl::StrContains(
      metrics, R"(cronfederatedhpa_process_duration_seconds_count{result="success"} 4)"));
  CHECK(absl::StrContains(
      metrics, R"(cronfederatedhpa_process_duration_seconds_bucket{result="success",le="2.048"})"));
}

TEST_CASE_METHOD(Fixture, "what the last leader scaled and did not record is recorded, once") {
  PutDue();
  PutWeb(5);  // The last leader has done that, and ended before the status was written.
  Restart();
  SetClock("10:00:20");
  Wait();
  CHECK(Writes() == Strings{kStatusWrite, kStatusWrite});
  CHECK(History()["successfulExecutions"].size() == 1);
  CHECK(History()["successfulExecutions"].At(0)["scheduleTime"].AsString() ==
        "2024-05-01T10:00:00Z");
  Restart();
  Wait();
  CHECK(Writes().size() == 2);
}

TEST_CASE_METHOD(Fixture, "a status that could not be written is written by the next pass") {
  PutDue();
  PutWeb(5);
  SetClock("10:00:00");
  server->FailNext("PATCH", 403, "Forbidden");
  const absl::Status failed = Reconcile().status();
  CHECK(absl::StrContains(failed.message(), "writing the status of CronFederatedHPA"));
  CHECK(Next() == "2024-05-01T10:00:00Z");
  REQUIRE(Events().size() == 1);
  CHECK(absl::StartsWith(Events()[0], "Warning UpdateStatusFailed CronFederatedHPA: "));
  Restart();
  SetClock("10:00:01");
  Wait();
  CHECK(Next() == "2024-05-01T11:00:00Z");
  CHECK(History()["successfulExecutions"].size() == 1);
  CHECK(Replicas() == 5);
}

TEST_CASE_METHOD(Fixture, "a time is not executed again while the status cannot be written") {
  PutDue();
  SetClock("10:00:00");
  server->FailNext("PATCH", 0, "");  // That of the scale does not fail.
  server->FailNext("PATCH", 403, "Forbidden", 2);
  CHECK_FALSE(Reconcile().ok());
  CHECK(Replicas() == 5);
  PutWeb(3);  // Somebody scales by hand.
  SetClock("10:00:01");
  CHECK_FALSE(Reconcile().ok());
  CHECK(Replicas() == 3);
  CHECK(Next() == "2024-05-01T10:00:00Z");
  SetClock("10:00:02");
  Wait();
  CHECK(Replicas() == 3);
  CHECK(History() == Json(R"({"ruleName": "up", "nextExecutionTime": "2024-05-01T11:00:00Z",
      "successfulExecutions": [{"scheduleTime": "2024-05-01T10:00:00Z", "appliedReplicas": 5,
                                "executionTime": "2024-05-01T10:00:00Z"}]})"));
  CHECK(Writes() == Strings{kStatusWrite, kScaleWrite, kStatusWrite, kStatusWrite, kStatusWrite});
  // The next time counts again.
  SetClock("11:00:00");
  Wait();
  CHECK(Replicas() == 5);
  CHECK(History()["successfulExecutions"].size() == 2);
}

TEST_CASE_METHOD(Fixture, "after a restart the status determines what was executed") {
  PutDue();
  SetClock("10:00:00");
  server->FailNext("PATCH", 0, "");
  server->FailNext("PATCH", 403, "Forbidden");
  CHECK_FALSE(Reconcile().ok());
  PutWeb(3);
  Restart();
  SetClock("10:00:01");
  Wait();
  CHECK(Replicas() == 5);
  CHECK(History()["successfulExecutions"].size() == 1);
}

TEST_CASE_METHOD(Fixture, "a status that is late by more than five minutes has every execution") {
  Put(R"({"name": "up", "schedule": "*/4 * * * *", "timeZone": "UTC", "targetReplicas": 5})");
  Wait();
  SetClock("10:00:00");
  server->FailNext("PATCH", 0, "");
  server->FailNext("PATCH", 403, "Forbidden", 2);
  CHECK_FALSE(Reconcile().ok());
  SetClock("10:04:30");
  CHECK_FALSE(Reconcile().ok());
  SetClock("10:07:00");
  Wait();
  const json::Value done = History()["successfulExecutions"];
  REQUIRE(done.size() == 2);
  CHECK(done.At(0)["scheduleTime"].AsString() == "2024-05-01T10:04:00Z");
  CHECK(done.At(1)["scheduleTime"].AsString() == "2024-05-01T10:00:00Z");
  CHECK(Next() == "2024-05-01T10:08:00Z");
  for (const std::string& event : Events()) {
    CHECK(absl::StartsWith(event, "Warning UpdateStatusFailed "));
  }
}

TEST_CASE_METHOD(Fixture, "a failure is reported once, though the status cannot be written") {
  PutDue();
  server->Erase(kDeployments, kWeb);
  SetClock("10:00:00");
  server->FailNext("PATCH", 403, "Forbidden");
  CHECK_FALSE(Reconcile().ok());
  PutWeb(2);
  Wait();
  CHECK(Replicas() == 2);
  CHECK(History()["failedExecutions"].size() == 1);
  const Strings events = Events();
  REQUIRE(events.size() == 2);
  CHECK(absl::StartsWith(events[0], "Warning ScaleFailed "));
  CHECK(absl::StartsWith(events[1], "Warning UpdateStatusFailed "));
}

TEST_CASE_METHOD(Fixture, "a successor of the same name executes its own times") {
  PutDue();
  SetClock("10:00:00");
  server->FailNext("PATCH", 0, "");
  server->FailNext("PATCH", 403, "Forbidden");
  CHECK_FALSE(Reconcile().ok());
  PutWeb(3);
  kube::Object successor = server->Find(api::CronFederatedHpas(), kKey);
  server->Erase(api::CronFederatedHpas(), kKey);
  successor.Set({"metadata", "uid"}, "successor");
  PutCached(api::CronFederatedHpas(), successor);
  Wait();
  CHECK(Replicas() == 5);
}

TEST_CASE_METHOD(Fixture, "the first write of a status that fails is reported") {
  Put(kHourly);
  server->FailNext("PATCH", 403, "Forbidden");
  CHECK_FALSE(Reconcile().ok());
  REQUIRE(Events().size() == 1);
  CHECK(absl::StartsWith(Events()[0], "Warning UpdateCronFederatedHPAFailed CronFederatedHPA: "));
}

TEST_CASE_METHOD(Fixture, "what the last leader recorded counts, though the cache lags behind") {
  PutDue();
  server->Block("WATCH");
  server->EndWatches(absl::UnavailableError("cut off"));
  kube::Object recorded_by_other = server->Find(api::CronFederatedHpas(), kKey);
  recorded_by_other.Set(
      {"status", "executionHistories"},
      Json(R"([{"ruleName": "up", "nextExecutionTime": "2024-05-01T11:00:00Z"}])"));
  server->Put(api::CronFederatedHpas(), recorded_by_other);
  SetClock("10:00:20");
  Wait();
  CHECK(Replicas() == 2);
  CHECK(Writes() == Strings{kStatusWrite});
  server->Unblock();
}

TEST_CASE_METHOD(Fixture,
                 "an execution is made up for within five minutes, and missed after them") {
  PutDue();
  SetClock("10:05:00");
  Wait();
  CHECK(Replicas() == 5);
  CHECK(History()["successfulExecutions"].At(0)["executionTime"].AsString() ==
        "2024-05-01T10:05:00Z");
  PutWeb(2);
  SetClock("11:05:01");
  Wait();
  CHECK(Replicas() == 2);
  CHECK(Next() == "2024-05-01T12:00:00Z");
  CHECK(History()["successfulExecutions"].size() == 1);
  CHECK(Events() ==
        Strings{"Warning ExecutionMissed CronFederatedHPA: Rule up was not executed at "
                "2024-05-01T11:00:00Z: no controller manager led then or had the time, or clocks "
                "were wrong, and now it is more than 5m late."});
  Restart();
  Wait();
  CHECK(Events().size() == 1);
}

TEST_CASE_METHOD(Fixture, "a failure is recorded and not repeated, and the next time comes") {
  PutDue();
  server->Erase(kDeployments, kWeb);
  SetClock("10:00:00");
  CHECK(Wait() == absl::Minutes(1));
  CHECK(Next() == "2024-05-01T11:00:00Z");
  const json::Value failed = History()["failedExecutions"].At(0);
  CHECK(failed["scheduleTime"].AsString() == "2024-05-01T10:00:00Z");
  CHECK(failed["message"].AsString() == "fake: NotFound");
  CHECK_FALSE(History().Has("successfulExecutions"));
  const Strings events = Events();
  REQUIRE(events.size() == 1);
  CHECK(events[0] == absl::StrCat("Warning ScaleFailed CronFederatedHPA: ",
                                  failed["message"].AsString(), " (rule up)"));
  Wait();
  CHECK(Events().size() == 1);
  CHECK(absl::StrContains(
      registry.Expose(),
      R"(cronfederatedhpa_rule_process_duration_seconds_count{result="error"} 1)"));
  PutWeb(2);
  SetClock("11:00:00");
  Wait();
  CHECK(Replicas() == 5);
}

TEST_CASE_METHOD(Fixture, "targets that cannot be scaled are failures, each with its cause") {
  struct Case {
    const char *target, *rule, *message;
  };
  for (const Case& c : {
           Case{R"({"apiVersion": "example.com/v1", "kind": "Thing", "name": "web"})", kHourly,
                "no matches for kind \"Thing\" in version \"example.com/v1\""},
           Case{R"({"apiVersion": "a/b/c", "kind": "Thing", "name": "web"})", kHourly,
                "unexpected GroupVersion string: a/b/c"},
           Case{kDeploymentRef, R"({"name": "up", "schedule": "0 * * * *", "timeZone": "UTC"})",
                "targetReplicas cannot be nil if you want to scale Deployment"},
           Case{R"({"apiVersion": "autoscaling.karmada.io/v1alpha1", "kind": "CronFederatedHPA",
                    "name": "web"})",
                kHourly,
                "CronFederatedHPA(ns/office-hours) do not support scale target "
                "autoscaling.karmada.io/v1alpha1/CronFederatedHPA"},
           Case{kHpaRef, kHourly, "FederatedHPA.autoscaling.karmada.io \"web\" not found"},
       }) {
    INFO(c.message);
    SetClock("09:59:00");
    server->Erase(api::CronFederatedHpas(), kKey);
    Put(c.rule, c.target);
    Wait();
    SetClock("10:00:00");
    CHECK(Wait() == absl::Minutes(1));
    CHECK(History()["failedExecutions"].At(0)["message"].AsString() == c.message);
  }
  CHECK(Events().size() == 5);
}

TEST_CASE_METHOD(Fixture, "a server that is busy is asked again, for four minutes") {
  PutDue();
  SetClock("10:00:00");
  server->FailNext("PATCH", 503, "ServiceUnavailable", 100);
  CHECK(Wait() == absl::Seconds(10));
  CHECK(Next() == "2024-05-01T10:00:00Z");
  CHECK(Events().empty());
  server->EndFailures();
  SetClock("10:00:10");
  Wait();
  CHECK(Replicas() == 5);
  CHECK(History()["successfulExecutions"].At(0)["executionTime"].AsString() ==
        "2024-05-01T10:00:10Z");

  PutWeb(2);
  SetClock("11:04:00");
  server->FailNext("PATCH", 503, "ServiceUnavailable");
  Wait();
  CHECK(Next() == "2024-05-01T12:00:00Z");
  CHECK(History()["failedExecutions"].size() == 1);
  CHECK(Events().size() == 1);
}

TEST_CASE_METHOD(Fixture, "a FederatedHPA gets the bounds that the rule has") {
  PutHpa(1, 4);
  Put(R"({"name": "up", "schedule": "0 * * * *", "timeZone": "UTC", "targetMaxReplicas": 9},
         {"name": "same", "schedule": "30 * * * *", "timeZone": "UTC", "targetMinReplicas": 1})",
      kHpaRef);
  Wait();
  SetClock("10:00:00");
  Wait();
  CHECK(Bounds() == Json(R"({"minReplicas": 1, "maxReplicas": 9})"));
  CHECK(History()["successfulExecutions"].At(0) ==
        Json(R"({"scheduleTime": "2024-05-01T10:00:00Z", "executionTime": "2024-05-01T10:00:00Z",
                 "appliedMaxReplicas": 9})"));
  CHECK(Writes().size() == 3);
  SetClock("10:30:00");
  Wait();
  CHECK(Writes().size() == 4);  // Of the status alone.
  CHECK(History(1)["successfulExecutions"].At(0)["appliedMinReplicas"].AsInt() == 1);
}

TEST_CASE_METHOD(Fixture, "a FederatedHPA never gets a minimum above its maximum") {
  struct Case {
    const char *rule, *message;
  };
  const Case c = GENERATE(values<Case>({
      {R"("targetMinReplicas": 5)",
       "targetMinReplicas (5) is greater than spec.maxReplicas (4) of FederatedHPA ns/web, so "
       "nothing was written"},
      {R"("targetMaxReplicas": 1)",
       "targetMaxReplicas (1) is less than spec.minReplicas (2) of FederatedHPA ns/web, so "
       "nothing was written"},
      {R"("targetMinReplicas": 8, "targetMaxReplicas": 6)",
       "targetMinReplicas (8) is greater than targetMaxReplicas (6), so nothing was written"},
  }));
  PutHpa(2, 4);
  Put(absl::StrCat(R"({"name": "up", "schedule": "0 * * * *", "timeZone": "UTC", )", c.rule, "}"),
      kHpaRef);
  Wait();
  SetClock("10:00:00");
  CHECK(Wait() == absl::Minutes(1));
  CHECK(Bounds() == Json(R"({"minReplicas": 2, "maxReplicas": 4})"));
  CHECK(Writes() == Strings{kStatusWrite, kStatusWrite});
  CHECK(History()["failedExecutions"].At(0)["message"].AsString() == c.message);
  CHECK(Next() == "2024-05-01T11:00:00Z");
  CHECK(Events() ==
        Strings{absl::StrCat("Warning ScaleFailed CronFederatedHPA: ", c.message, " (rule up)")});
}

TEST_CASE_METHOD(Fixture, "both bounds are set together, and from what the server has now") {
  PutHpa(2, 4);
  Put(R"({"name": "up", "schedule": "0 * * * *", "timeZone": "UTC", "targetMinReplicas": 6,
          "targetMaxReplicas": 9})",
      kHpaRef);
  Wait();
  SetClock("10:00:00");
  server->FailNext("PATCH", 409, "Conflict");  // Somebody writes the FederatedHPA meanwhile.
  Wait();
  CHECK(Bounds() == Json(R"({"minReplicas": 6, "maxReplicas": 9})"));
  CHECK(History()["successfulExecutions"].size() == 1);
  CHECK(Events().empty());
}

TEST_CASE_METHOD(Fixture,
                 "rules of the same time are executed in their order, by one status write") {
  Put(absl::StrCat(kHourly, R"(, {"name": "down", "schedule": "0 10 * * *", "timeZone": "UTC",
                                  "targetReplicas": 1})"));
  Wait();
  SetClock("10:00:00");
  Wait();
  CHECK(Replicas() == 1);
  CHECK(Writes() == Strings{kStatusWrite, kScaleWrite, kScaleWrite, kStatusWrite});
  CHECK(Next(0) == "2024-05-01T11:00:00Z");
  CHECK(Next(1) == "2024-05-02T10:00:00Z");
}

TEST_CASE_METHOD(Fixture, "a rule waits for an earlier one that is tried again") {
  Put(absl::StrCat(kHourly, R"(, {"name": "down", "schedule": "0 10 * * *", "timeZone": "UTC",
                                  "targetReplicas": 1})"));
  Wait();
  SetClock("10:00:00");
  server->FailNext("PATCH", 503, "ServiceUnavailable", 100);
  Wait();
  server->EndFailures();
  SetClock("10:00:10");
  Wait();
  CHECK(Replicas() == 1);
  CHECK(History(0)["successfulExecutions"].size() == 1);
  CHECK(History(1)["successfulExecutions"].size() == 1);
}

TEST_CASE_METHOD(Fixture, "a rule that is suspended is not executed, nor at once when it goes on") {
  PutDue();
  const std::string suspended =
      R"({"name": "up", "schedule": "0 * * * *", "timeZone": "UTC", "targetReplicas": 5,
          "suspend": true})";
  Put(suspended);
  CHECK(Wait() == absl::InfiniteDuration());
  CHECK(History() == Json(R"({"ruleName": "up"})"));
  SetClock("10:00:00");
  Wait();
  CHECK(Replicas() == 2);
  CHECK(Writes().size() == 2);
  SetClock("10:01:00");
  Put(kHourly);
  Wait();
  CHECK(Replicas() == 2);
  CHECK(Next() == "2024-05-01T11:00:00Z");
}

TEST_CASE_METHOD(Fixture, "a status that somebody empties is there again") {
  PutDue();
  kube::Object emptied = server->Find(api::CronFederatedHpas(), kKey);
  emptied.Erase({"status"});
  PutCached(api::CronFederatedHpas(), emptied);
  Wait();
  CHECK(Next() == "2024-05-01T10:00:00Z");
}

TEST_CASE_METHOD(Fixture, "an edit at the moment of the execution loses nothing") {
  PutDue();
  PutWeb(5);
  SetClock("10:00:00");
  server->FailNext("PATCH", 409, "Conflict");
  Wait();
  CHECK(History()["successfulExecutions"].size() == 1);
  CHECK(Next() == "2024-05-01T11:00:00Z");
  CHECK(Events().empty());
}

TEST_CASE_METHOD(Fixture, "rules that cannot be executed are reported once, others go on") {
  const std::string broken =
      R"({"name": "typo", "schedule": "0 25 * * *", "targetReplicas": 1},
         {"name": "never", "schedule": "0 0 30 2 *", "targetReplicas": 1},
         {"name": "zone", "schedule": "@daily", "timeZone": "Mars/Olympus", "targetReplicas": 1},)";
  Put(absl::StrCat(broken, kHourly));
  CHECK(Wait() == absl::Minutes(1));
  const Strings events = {
      "Warning StartRuleFailed CronFederatedHPA: no day or time matches the schedule \"0 0 30 2 "
      "*\", so it is never executed (rule never)",
      "Warning StartRuleFailed CronFederatedHPA: gocron: cron expression failed to be parsed: end "
      "of range (25) above maximum (23): 25 (rule typo)",
      "Warning StartRuleFailed CronFederatedHPA: unknown time zone Mars/Olympus (rule zone)"};
  CHECK(Events() == events);
  Wait();
  CHECK(Events().size() == 3);
  SetClock("10:00:00");
  Wait();
  CHECK(Replicas() == 5);
  CHECK(Events().size() == 3);
  Put(absl::StrCat(R"({"name": "typo", "schedule": "0 26 * * *", "targetReplicas": 1},)", kHourly));
  Wait();
  CHECK(Events().size() == 4);
  Put(kHourly);
  Wait();
  CHECK(Events().size() == 4);
  CHECK(absl::StrContains(registry.Expose(),
                          R"(cronfederatedhpa_process_duration_seconds_count{result="error"})"));
}

TEST_CASE_METHOD(Fixture, "what is gone or being deleted is left alone") {
  PutDue();
  kube::Object leaving = server->Find(api::CronFederatedHpas(), kKey);
  leaving.Set({"metadata", "deletionTimestamp"}, "2024-05-01T09:59:30Z");
  PutCached(api::CronFederatedHpas(), leaving);
  SetClock("10:00:00");
  CHECK(Wait() == absl::InfiniteDuration());
  server->Erase(api::CronFederatedHpas(), kKey);
  CHECK(Wait() == absl::InfiniteDuration());
  CHECK(Replicas() == 2);
}

TEST_CASE_METHOD(Fixture, "the loop wakes at the time of a rule, and when a clock is set") {
  REQUIRE(controllers::RegisterCronFederatedHpa(Context(), 1).ok());
  Start();
  kube::Object object = kube::Object::Make(api::CronFederatedHpas().gvk, kKey);
  object.Set({"spec", "scaleTargetRef"}, Json(kDeploymentRef));
  object.Set({"spec", "rules"}, Json(absl::StrCat("[", kHourly, "]")));
  server->Put(api::CronFederatedHpas(), object);
  REQUIRE(tests::Eventually([&] { return Next() == "2024-05-01T10:00:00Z"; }));
  REQUIRE(tests::Eventually([&] {
    clock.Advance(absl::Seconds(5));
    return Replicas() == 5;
  }));
  REQUIRE(tests::Eventually([&] { return Next() == "2024-05-01T11:00:00Z"; }));
  PutWeb(2);
  SetClock("10:59:59");  // Nobody is woken by that.
  REQUIRE(tests::Eventually([&] {
    clock.Advance(absl::Seconds(5));
    return Replicas() == 5;
  }));
  CHECK(clock.Now() < *kube::ParseTime("2024-05-01T11:04:00Z"));
}

}  // namespace
