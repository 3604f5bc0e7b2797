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
  const Taint taint = Down();
  CHECK(Toleration{"down", "Exists", "", "", {}}.Tolerates(taint));
  CHECK(Toleration{"", "Exists", "", "", {}}.Tolerates(taint));
  CHECK(Toleration{"down", "Equal", "v", "NoExecute", {}}.Tolerates(taint));
  CHECK(Toleration{"down", "", "v", "", {}}.Tolerates(taint));
  CHECK_FALSE(Toleration{"down", "", "", "", {}}.Tolerates(taint));
  CHECK_FALSE(Toleration{"down", "Exists", "", "NoSchedule", {}}.Tolerates(taint));
  CHECK_FALSE(Toleration{"up", "Exists", "", "", {}}.Tolerates(taint));
  CHECK_FALSE(Toleration{"down", "Gt", "v", "", {}}.Tolerates(taint));
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
