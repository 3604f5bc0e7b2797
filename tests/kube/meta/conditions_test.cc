#include <catch2/catch.hpp>

#include "kube/meta/object.h"
#include "tests/kube/meta/truth_table.h"

namespace {

using kube::Condition;
using kube_test::Json;

const absl::Time kEarlier = absl::FromUnixSeconds(1767323045);
const absl::Time kLater = kEarlier + absl::Hours(1);

Condition Applied(const char* status, const char* reason) {
  return {"Applied", status, reason, "message", 0};
}

TEST_CASE(
    "a message longer than the API server takes is cut, which is not a change the next time") {
  json::Value conditions = json::Value::Array();
  kube::Condition condition = Applied("False", "Failed");
  condition.message = std::string(100'000, 'x');
  CHECK(kube::SetCondition(conditions, condition, kEarlier));
  CHECK(conditions.At(0)["message"].AsString().size() == 32768);
  CHECK_FALSE(kube::SetCondition(conditions, condition, kLater));
}

TEST_CASE("a new condition is appended with its transition time") {
  json::Value conditions;
  CHECK(kube::SetCondition(conditions, Applied("True", "Done"), kEarlier));
  CHECK(json::Write(conditions) ==
        R"([{"lastTransitionTime":"2026-01-02T03:04:05Z","message":"message","reason":"Done",)"
        R"("status":"True","type":"Applied"}])");
}

TEST_CASE("the transition time moves only when the status flips") {
  json::Value conditions;
  kube::SetCondition(conditions, Applied("True", "Done"), kEarlier);
  CHECK(kube::SetCondition(conditions, Applied("True", "Again"), kLater));
  CHECK(conditions.At(0)["reason"].AsString() == "Again");
  CHECK(conditions.At(0)["lastTransitionTime"].AsString() == "2026-01-02T03:04:05Z");
  CHECK(kube::SetCondition(conditions, Applied("False", "Again"), kLater));
  CHECK(conditions.At(0)["lastTransitionTime"].AsString() == "2026-01-02T04:04:05Z");
  CHECK(conditions.size() == 1);
}

TEST_CASE("setting an equal condition changes nothing") {
  json::Value conditions = Json(R"([{"type":"Applied","status":"True","extra":1}])");
  const std::string before = json::Write(conditions);
  CHECK_FALSE(kube::SetCondition(conditions, {"Applied", "True", "", "", 0}, kLater));
  CHECK(json::Write(conditions) == before);
}

TEST_CASE("members the condition does not know stay, other conditions stay in place") {
  json::Value conditions =
      Json(R"([{"type":"A","status":"True"},{"type":"Applied","status":"False","extra":1},)"
           R"({"type":"B"}])");
  CHECK(kube::SetCondition(conditions, Applied("True", "r"), kLater));
  CHECK(conditions.size() == 3);
  CHECK(conditions.At(1)["extra"].AsInt() == 1);
  CHECK(conditions.At(1)["status"].AsString() == "True");
}

TEST_CASE("the observed generation is written only when it is not 0") {
  json::Value conditions;
  Condition condition = Applied("True", "r");
  condition.observed_generation = 7;
  kube::SetCondition(conditions, condition, kEarlier);
  CHECK(conditions.At(0)["observedGeneration"].AsInt() == 7);
  condition.observed_generation = 0;
  CHECK(kube::SetCondition(conditions, condition, kEarlier));
  CHECK_FALSE(conditions.At(0).Has("observedGeneration"));
}

TEST_CASE("conditions are found by type") {
  const json::Value conditions =
      Json(R"([1,{"type":"A","status":"False"},{"type":"B","status":"True"}])");
  REQUIRE(kube::FindCondition(conditions, "A") != nullptr);
  CHECK(kube::FindCondition(conditions, "C") == nullptr);
  CHECK(kube::FindCondition(nullptr, "A") == nullptr);
  CHECK_FALSE(kube::IsConditionTrue(conditions, "A"));
  CHECK(kube::IsConditionTrue(conditions, "B"));
  CHECK_FALSE(kube::IsConditionTrue(conditions, "C"));
}

}  // namespace
