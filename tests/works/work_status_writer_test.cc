#include "works/work_status_writer.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/support/members_fixture.h"

namespace {

using tests::Eventually;
using tests::Json;
using tests::Parse;
using works::News;
using works::WithChange;
using works::WorkStatusChange;

kube::Condition Applied(const std::string& status, const std::string& message = "") {
  return {.type = "Applied", .status = status, .reason = "R", .message = message};
}
kube::Condition Dispatching(const std::string& status) {
  return {.type = "Dispatching", .status = status, .reason = "D", .message = ""};
}

const absl::Time kOne = absl::FromUnixSeconds(1'700'000'000);
const absl::Time kTwo = kOne + absl::Minutes(1);

std::string TransitionOf(const json::Value& status, const char* type) {
  return (*kube::FindCondition(status["conditions"], type))["lastTransitionTime"].ToString();
}

TEST_CASE("conditions and manifest status are put into an empty status") {
  const json::Value status =
      WithChange({}, {{Applied("True", "m")}, Json(R"({"health": "Healthy"})")}, kOne);
  CHECK(status == Json(R"({"conditions": [{"type": "Applied", "status": "True", "reason": "R",
                            "message": "m", "lastTransitionTime": "2023-11-14T22:13:20Z"}],
                          "manifestStatuses": [{"health": "Healthy"}]})"));
}

TEST_CASE("a change leaves alone what it does not speak of") {
  const json::Value before =
      WithChange({}, {{Applied("True")}, Json(R"({"health": "Healthy"})")}, kOne);
  const json::Value after = WithChange(before, {{Dispatching("True")}, std::nullopt}, kTwo);
  CHECK(after["manifestStatuses"] == before["manifestStatuses"]);
  CHECK(after["conditions"].size() == 2);
  CHECK(after["conditions"].At(0) == before["conditions"].At(0));
  CHECK(WithChange(after, {}, kTwo) == after);
}

TEST_CASE("the manifest status is replaced as a whole") {
  const json::Value before =
      WithChange({}, {{}, Json(R"({"health": "Unhealthy", "status": {"a": 1}})")}, kOne);
  const json::Value after = WithChange(before, {{}, Json(R"({"health": "Healthy"})")}, kTwo);
  CHECK(after["manifestStatuses"] == Json(R"([{"health": "Healthy"}])"));
}

TEST_CASE("the transition time moves when the status flips and only then") {
  const json::Value first = WithChange({}, {{Applied("False", "a")}, std::nullopt}, kOne);
  const json::Value reworded = WithChange(first, {{Applied("False", "b")}, std::nullopt}, kTwo);
  CHECK(TransitionOf(reworded, "Applied") == TransitionOf(first, "Applied"));
  CHECK((*kube::FindCondition(reworded["conditions"], "Applied"))["message"].AsString() == "b");
  const json::Value flipped = WithChange(first, {{Applied("True")}, std::nullopt}, kTwo);
  CHECK(TransitionOf(flipped, "Applied") == "2023-11-14T22:14:20Z");
}

const kube::ObjectKey kKey = {"karmada-es-m1", "web"};

// A running manager with the writer's loop, and one Work.
struct Fixture : tests::MembersFixture {
  std::optional<works::WorkStatusWriter> writer;

  Fixture() {
    Sync({api::Works()});
    PutCached(api::Works(), kube::Object::Make(api::Works().gvk, kKey));
    writer.emplace(Make());
    Start();
  }
  ~Fixture() override { base::IgnoreError(Finish(), "ends the loops before the writer goes"); }

  json::Value Status() const { return server->Find(api::Works(), kKey).status(); }
  size_t Patches() const { return server->Requests("PATCH").size(); }
  // Lets the time go by until the loop has sent `n` patches.
  bool AwaitPatches(size_t n, absl::Duration step) {
    return Eventually([&] {
      if (Patches() < n) clock.Advance(step);
      return Patches() >= n;
    });
  }
  bool AwaitStatus(const char* type, const std::string& status) {
    return Eventually([&] {
      const json::Value now = Status();
      const json::Value* found = kube::FindCondition(now["conditions"], type);
      return found != nullptr && (*found)["status"].AsString() == status;
    });
  }
};

TEST_CASE_METHOD(Fixture,
                 "steps that follow each other quickly become one write of the last state") {
  writer->Submit(kKey, {{Dispatching("True")}, std::nullopt}, News::kProgress);
  writer->Submit(kKey, {{Applied("False", "first")}, std::nullopt}, News::kProgress);
  writer->Submit(kKey, {{}, Json(R"({"health": "Unhealthy"})")}, News::kProgress);
  writer->Submit(kKey, {{Applied("True", "last")}, Json(R"({"health": "Healthy"})")},
                 News::kProgress);
  CHECK(Patches() == 0);
  clock.Advance(works::kProgressHold);
  REQUIRE(AwaitStatus("Applied", "True"));
  CHECK(Patches() == 1);
  CHECK(server->Requests("PATCH").front() ==
        "PATCH /apis/work.karmada.io/v1alpha1/namespaces/karmada-es-m1/works/web/status");
  CHECK(Status()["conditions"].size() == 2);
  CHECK((*kube::FindCondition(Status()["conditions"], "Applied"))["message"].AsString() == "last");
  CHECK(Status()["manifestStatuses"] == Json(R"([{"health": "Healthy"}])"));
}

TEST_CASE_METHOD(Fixture, "settled news take along the progress that waits") {
  writer->Submit(kKey, {{Dispatching("True")}, std::nullopt}, News::kProgress);
  writer->Submit(kKey, {{Applied("True")}, std::nullopt}, News::kSettled);
  clock.Advance(works::kSettledHold);
  REQUIRE(AwaitStatus("Applied", "True"));
  REQUIRE(AwaitStatus("Dispatching", "True"));
  clock.Advance(works::kProgressHold);
  writer->Submit(kKey, {{Applied("False")}, std::nullopt}, News::kSettled);
  clock.Advance(works::kSettledHold);
  REQUIRE(AwaitStatus("Applied", "False"));
  CHECK(Patches() == 2);
}

TEST_CASE_METHOD(Fixture, "what is there already is not written") {
  writer->Submit(kKey, {{Applied("True")}, std::nullopt}, News::kSettled);
  clock.Advance(works::kSettledHold);
  REQUIRE(AwaitStatus("Applied", "True"));
  writer->Submit(kKey, {{Applied("True")}, std::nullopt}, News::kSettled);
  clock.Advance(works::kSettledHold);
  writer->Submit(kKey, {{Dispatching("True")}, std::nullopt}, News::kSettled);
  clock.Advance(works::kSettledHold);
  REQUIRE(AwaitStatus("Dispatching", "True"));
  CHECK(Patches() == 2);
}

TEST_CASE_METHOD(Fixture, "what could not be written is written later, under anything newer") {
  server->FailNext("PATCH", 500, "InternalError");
  writer->Submit(kKey,
                 {{Applied("False", "old"), Dispatching("True")}, Json(R"({"health": "Unknown"})")},
                 News::kSettled);
  REQUIRE(AwaitPatches(1, works::kSettledHold));
  writer->Submit(kKey, {{Applied("True", "new")}, std::nullopt}, News::kSettled);
  REQUIRE(Eventually([&] {
    clock.Advance(works::kSettledHold);
    const json::Value status = Status();
    return status["conditions"].size() == 2 &&
           kube::IsConditionTrue(status["conditions"], "Applied");
  }));
  CHECK(kube::IsConditionTrue(Status()["conditions"], "Dispatching"));
  CHECK(Status()["manifestStatuses"] == Json(R"([{"health": "Unknown"}])"));
}

TEST_CASE_METHOD(Fixture, "news of a Work that is gone are dropped") {
  writer->Submit({"karmada-es-m1", "never"}, {{Applied("True")}, std::nullopt}, News::kSettled);
  server->FailNext("PATCH", 404, "NotFound");
  writer->Submit(kKey, {{Applied("True")}, std::nullopt}, News::kSettled);
  REQUIRE(AwaitPatches(1, works::kSettledHold));
  for (int i = 0; i < 5; ++i) clock.Advance(absl::Minutes(20));
  writer->Submit(kKey, {{Dispatching("True")}, std::nullopt}, News::kSettled);
  REQUIRE(AwaitPatches(2, works::kSettledHold));
  REQUIRE(AwaitStatus("Dispatching", "True"));
  CHECK(Status()["conditions"].size() == 1);  // The first change did not come back.
}

}  // namespace
