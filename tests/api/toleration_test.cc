#include "api/toleration.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kube/meta/object.h"

namespace {

using api::RemainingToleration;
using api::Taint;
using api::Toleration;

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

std::string Ago(int seconds) { return kube::FormatTime(kNow - absl::Seconds(seconds)); }
Taint Down(const std::string& added = "") { return {"down", "v", "NoExecute", added}; }
Toleration For(std::optional<int64_t> seconds, const std::string& key = "down") {
  return {key, "Exists", "", "", seconds};
}

TEST_CASE("a toleration matches by effect, key and operator") {
  struct Row {
    const char *key, *op, *value, *effect;
    bool tolerates;
  };
  const Row rows[] = {
      {"down", "Exists", "", "", true},
      {"down", "Exists", "other", "", true},
      {"", "Exists", "", "", true},
      {"down", "Exists", "", "NoExecute", true},
      {"down", "Exists", "", "NoSchedule", false},
      {"up", "Exists", "", "", false},
      {"down", "Equal", "v", "NoExecute", true},
      {"down", "", "v", "", true},
      {"down", "", "", "", false},
      {"down", "Equal", "w", "", false},
      {"", "Equal", "v", "", true},
      {"", "", "v", "", true},
      {"", "Equal", "w", "", false},
      {"down", "Gt", "v", "", false},
      {"down", "exists", "v", "", false},
  };
  for (const Row& row : rows) {
    const Toleration toleration{row.key, row.op, row.value, row.effect, {}};
    INFO(row.key << " " << row.op << " " << row.value << " " << row.effect);
    CHECK(toleration.Tolerates(Down()) == row.tolerates);
    CHECK(api::Tolerate({For({}, "other"), toleration}, Down()) == row.tolerates);
  }
  CHECK_FALSE(api::Tolerate({}, Down()));
}

TEST_CASE("a taint that is not tolerated ends the stay at once, one that is not there never") {
  CHECK(RemainingToleration({}, {}, kNow) == absl::InfiniteDuration());
  CHECK(RemainingToleration({Down(Ago(0))}, {}, kNow) == absl::ZeroDuration());
  CHECK(RemainingToleration({Down(Ago(0))}, {For({}, "other")}, kNow) == absl::ZeroDuration());
  const Taint other{"other", "", "NoExecute", Ago(0)};
  CHECK(RemainingToleration({Down(Ago(0)), other}, {For({})}, kNow) == absl::ZeroDuration());
  CHECK(RemainingToleration({Down(Ago(1000))}, {For({})}, kNow) == absl::InfiniteDuration());
}

TEST_CASE("the seconds of a toleration count from the moment the taint was added") {
  CHECK(RemainingToleration({Down(Ago(10))}, {For(30)}, kNow) == absl::Seconds(20));
  CHECK(RemainingToleration({Down(Ago(30))}, {For(30)}, kNow) == absl::ZeroDuration());
  CHECK(RemainingToleration({Down(Ago(31))}, {For(30)}, kNow) == absl::ZeroDuration());
  CHECK(RemainingToleration({Down(Ago(0))}, {For(-5)}, kNow) == absl::ZeroDuration());
  CHECK(RemainingToleration({Down("")}, {For(30)}, kNow) == absl::InfiniteDuration());
  CHECK(RemainingToleration({Down("soon")}, {For(30)}, kNow) == absl::InfiniteDuration());
}

TEST_CASE("the toleration that ends first decides, among those that are the first for a taint") {
  const Taint other{"other", "", "NoExecute", Ago(5)};
  CHECK(RemainingToleration({Down(Ago(10)), other}, {For(30), For(20, "other")}, kNow) ==
        absl::Seconds(15));
  CHECK(RemainingToleration({Down(Ago(10)), other}, {For(30), For({}, "other")}, kNow) ==
        absl::Seconds(20));
  // The second one for the same taint is not used.
  CHECK(RemainingToleration({Down(Ago(10))}, {For({}), For(20)}, kNow) == absl::InfiniteDuration());
  // One that is used counts for every taint it matches.
  CHECK(RemainingToleration({Down(Ago(10)), other}, {For({}), For(30, "")}, kNow) ==
        absl::Seconds(20));
}

TEST_CASE("the scheduler takes a cluster whose taints are tolerated, for however short a time") {
  const Taint milder{"slow", "", "NoSchedule", ""}, mildest{"slow", "", "PreferNoSchedule", ""};
  CHECK(api::AdmitsScheduling({}, {}));
  CHECK(api::AdmitsScheduling({mildest}, {}));
  CHECK(api::AdmitsScheduling({Down(Ago(100))}, {For(1)}));
  CHECK_FALSE(api::AdmitsScheduling({Down(Ago(100)), milder}, {For(1)}));
  CHECK_FALSE(api::AdmitsScheduling({Down(Ago(0))}, {}));
}

TEST_CASE("tolerations are read as the placement has them") {
  const auto list = json::Parse(R"([{"key": "a", "operator": "Exists", "tolerationSeconds": 7},
                                    {"effect": "NoExecute", "value": "x"}])");
  const std::vector<Toleration> tolerations = api::TolerationsFromJson(*list);
  REQUIRE(tolerations.size() == 2);
  CHECK(tolerations[0].seconds == 7);
  CHECK(tolerations[1].effect == "NoExecute");
  CHECK_FALSE(tolerations[1].seconds.has_value());
}

}  // namespace
