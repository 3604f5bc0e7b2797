// Which events the work-status loop writes about objects that are not healthy, and when.
#include "controllers/work_status/health_reports.h"

#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/binding_scope.h"
#include "tests/support/members_fixture.h"
#include "tests/support/scripted_interpreter.h"

namespace {

using controllers::kLongUnhealthy;
using Events = std::vector<std::string>;
using interpreter::Health;

struct Fixture : tests::MembersFixture {
  tests::ScriptedInterpreter scripted;
  std::optional<kube::EventRecorder> recorder;
  std::optional<controllers::HealthReports> reports;
  kube::WorkQueue queue{{.name = "objects"}, clock};
  const kube::ObjectKey binding = {"ns", "app-configmap"};
  kube::Object work = kube::Object::Make(api::Works().gvk, {"karmada-es-m1", "app"});

  Fixture() {
    Sync({api::Works(), api::ResourceBindings(), api::ClusterResourceBindings()});
    Make();
    scripted.Enable(interpreter::Operation::kInterpretHealth);
    recorder.emplace(*events, "test");
    reports.emplace(*manager, scripted, *recorder);
    reports->LookWith(queue, {.reason = "look"});
    PutCached(api::ResourceBindings(), kube::Object::Make(api::ResourceBindings().gvk, binding));
    for (const auto& [name, value] : api::scope::Namespaced::NamingAnnotations(binding)) {
      work.SetAnnotation(name, value);
    }
    work = PutCached(api::Works(), work);
  }

  // A pass over the object, whose Work shows this health.
  std::string Pass(const Health& health, const char* known, const char* name = "app") {
    scripted.healthy = health;
    const kube::Object object = kube::Object::Make(tests::kConfigMaps.gvk, {"ns", name});
    return reports->Interpret({"m1", object, work, known}).value();
  }
};

Health Unhealthy(const char* why) { return {false, why}; }

const std::string kTurned =
    "Normal InterpretHealthSucceed Work: Interpret health of object(ConfigMap/ns/app) as unhealthy";
const std::string kLasting = ": ConfigMap ns/app in cluster m1 has been unhealthy for ";

}  // namespace

TEST_CASE_METHOD(Fixture, "the event of a health that turns bad says why, once for an outage") {
  CHECK(Pass(true, "Healthy") == "Healthy");
  CHECK(recorded->All().empty());
  // The write of the Work is held, and the object is looked at again meanwhile.
  CHECK(Pass(Unhealthy("0 of 2"), "Healthy") == "Unhealthy");
  CHECK(Pass(Unhealthy("1 of 2"), "Healthy") == "Unhealthy");
  CHECK(recorded->All() == Events{kTurned + ". 0 of 2"});
  CHECK(Pass(Unhealthy("0 of 2"), "Unhealthy") == "Unhealthy");
  CHECK(recorded->All().size() == 1);

  CHECK(Pass(true, "Unhealthy") == "Healthy");
  REQUIRE(recorded->All().size() == 2);
  CHECK(recorded->All()[1] ==
        "Normal InterpretHealthSucceed Work: Interpret health of object(ConfigMap/ns/app) as "
        "healthy.");
  CHECK(Pass(Unhealthy("2 of 2 are ill"), "Healthy") == "Unhealthy");
  REQUIRE(recorded->All().size() == 3);
  CHECK(recorded->All()[2] == kTurned + ". 2 of 2 are ill");
}

TEST_CASE_METHOD(Fixture, "what is unhealthy for long is reported without a message, too") {
  Pass(false, "Healthy");
  CHECK(recorded->All() == Events{kTurned + "."});
  clock.Advance(kLongUnhealthy);
  CHECK(reports->ReportLong().delay() == absl::ZeroDuration());
  const Events once = {kTurned + ".", "Warning Unhealthy Work" + kLasting + "5m",
                       "Warning Unhealthy ResourceBinding" + kLasting + "5m"};
  CHECK(recorded->All() == once);

  Pass(Unhealthy("at last a reason"), "Unhealthy");
  clock.Advance(10 * kLongUnhealthy);
  reports->ReportLong();
  CHECK(recorded->All() == once);
}

TEST_CASE_METHOD(Fixture, "a rollout that goes well brings no event, whatever is said on the way") {
  Pass(Unhealthy("not seen yet"), "");
  Pass(Unhealthy("0 of 2"), "");
  clock.Advance(kLongUnhealthy - absl::Seconds(1));
  Pass(Unhealthy("1 of 2"), "Unhealthy");
  CHECK(reports->ReportLong().delay() == controllers::kBetweenReports);
  Pass(true, "Unhealthy");
  CHECK(recorded->All() ==
        Events{"Normal InterpretHealthSucceed Work: Interpret health of object(ConfigMap/ns/app) "
               "as healthy."});
  clock.Advance(kLongUnhealthy);
  CHECK(reports->ReportLong().delay() == absl::ZeroDuration());
  CHECK(recorded->All().size() == 1);
}

TEST_CASE_METHOD(Fixture, "what is unhealthy for long is reported once, with its last message") {
  Pass(Unhealthy("0 of 2"), "");
  clock.Advance(kLongUnhealthy);
  Pass(Unhealthy("1 of 2"), "Unhealthy");
  CHECK(queue.size() == 1);  // The request to look, which both passes share.
  CHECK(reports->ReportLong().delay() == absl::ZeroDuration());
  const Events once = {"Warning Unhealthy Work" + kLasting + "5m: 1 of 2",
                       "Warning Unhealthy ResourceBinding" + kLasting + "5m: 1 of 2"};
  CHECK(recorded->All() == once);

  Pass(Unhealthy("0 of 2 again"), "Unhealthy");
  clock.Advance(10 * kLongUnhealthy);
  reports->ReportLong();
  CHECK(recorded->All() == once);
}

TEST_CASE_METHOD(Fixture, "what was unhealthy before the start is not reported") {
  Pass(Unhealthy("0 of 2"), "Unhealthy");
  clock.Advance(2 * kLongUnhealthy);
  CHECK(reports->ReportLong().delay() == absl::ZeroDuration());
  CHECK(recorded->All().empty());
}

TEST_CASE_METHOD(Fixture, "for how long an object is unhealthy is unknown after its rule failed") {
  Pass(Unhealthy("0 of 2"), "");
  clock.Advance(kLongUnhealthy / 2);
  scripted.healthy = absl::InvalidArgumentError("broken");
  const kube::Object object = kube::Object::Make(tests::kConfigMaps.gvk, {"ns", "app"});
  CHECK_FALSE(reports->Interpret({"m1", object, work, "Unhealthy"}).ok());
  const size_t events = recorded->All().size();
  clock.Advance(kLongUnhealthy);
  reports->ReportLong();
  CHECK(recorded->All().size() == events);

  Pass(Unhealthy("1 of 2"), "Unknown");
  clock.Advance(kLongUnhealthy / 2);
  reports->ReportLong();
  CHECK_FALSE(absl::StrContains(recorded->All().back(), kLasting));
  clock.Advance(kLongUnhealthy / 2);
  reports->ReportLong();
  CHECK(absl::StrContains(recorded->All().back(), kLasting + "5m: 1 of 2"));
}

TEST_CASE_METHOD(Fixture, "what is gone is not reported") {
  Pass(Unhealthy("0 of 2"), "", "app");
  Pass(Unhealthy("0 of 2"), "", "other");
  reports->Forget("m1", tests::kConfigMaps.gvk, {"ns", "app"});
  reports->ForgetCluster("m2");
  clock.Advance(kLongUnhealthy);
  reports->ReportLong();
  REQUIRE(recorded->All().size() == 2);
  CHECK_THAT(recorded->All()[0], Catch::Contains("ConfigMap ns/other in cluster m1"));

  Pass(Unhealthy("0 of 2"), "", "third");
  reports->ForgetCluster("m1");
  clock.Advance(kLongUnhealthy);
  CHECK(reports->ReportLong().delay() == absl::ZeroDuration());
  CHECK(recorded->All().size() == 2);
}

TEST_CASE_METHOD(Fixture, "an outage of a whole member is reported little by little") {
  for (size_t i = 0; i < controllers::kMostReportedAtOnce + 1; ++i) {
    Pass(Unhealthy("the node is gone"), "", absl::StrCat("app-", i).c_str());
  }
  clock.Advance(kLongUnhealthy);
  CHECK(reports->ReportLong().delay() == controllers::kBetweenReports);
  CHECK(recorded->All().size() == 2 * controllers::kMostReportedAtOnce);
  clock.Advance(controllers::kBetweenReports);
  CHECK(reports->ReportLong().delay() == absl::ZeroDuration());
  CHECK(recorded->All().size() == 2 * (controllers::kMostReportedAtOnce + 1));
}
