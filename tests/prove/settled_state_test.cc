#include "tests/prove/settled_state.h"

#include <catch2/catch.hpp>

#include "kube/meta/object.h"
#include "sandbox/api_server.h"
#include "tests/prove/time/time_driver.h"

namespace prove {
namespace {

constexpr char kUid[] = "0b5e0a5c-7f0e-4f0a-8f5c-0123456789ab";

json::Value ConfigMap(json::Value data) {
  return json::Value::Object(
      {{"apiVersion", "v1"},
       {"kind", "ConfigMap"},
       {"metadata", json::Value::Object({{"name", "c"}, {"namespace", "default"}})},
       {"data", std::move(data)}});
}

std::unique_ptr<sandbox::Fleet> Plane() {
  auto fleet = sandbox::Fleet::Start({.members = 1, .with_scheduler = false, .with_crds = false});
  REQUIRE(fleet.ok());
  // Its controllers have made what each namespace gets.
  TimeDriver time;
  REQUIRE(time.AwaitIdle());
  return *std::move(fleet);
}

TEST_CASE("Two planes with the same objects have the same state, whatever their uids and times") {
  const auto one = Plane(), other = Plane();
  for (const auto* fleet : {&one, &other}) {
    const json::Value data = json::Value::Object({{"at", "2026-01-02T03:04:05Z"}});
    REQUIRE((*fleet)
                ->control_plane()
                .backend()
                .Create({"", "v1", "configmaps"}, kube::Object(ConfigMap(data)))
                .ok());
  }
  CHECK(Differences(ReadSettledState(*one), ReadSettledState(*other)).empty());
}

TEST_CASE("What differs is named") {
  const SettledState wanted = {{"host/A//a", json::Value::Object({{"x", 1}, {"y", kUid}})},
                               {"host/B//b", json::Value::Object()}};
  const SettledState found = {{"host/A//a", json::Value::Object({{"x", 2}, {"y", kUid}})},
                              {"host/C//c", json::Value::Object()}};
  CHECK(Differences(wanted, found) == std::vector<std::string>{"host/A//a.x: 2 instead of 1",
                                                               "host/B//b is missing",
                                                               "host/C//c should not be there"});
}

TEST_CASE("A value that a member lost is a difference") {
  const auto one = Plane(), other = Plane();
  REQUIRE(one->member("member1")
              ->backend()
              .Create({"", "v1", "configmaps"}, kube::Object(ConfigMap(json::Value::Object())))
              .ok());
  const auto lines = Differences(ReadSettledState(*one), ReadSettledState(*other));
  CHECK(lines == std::vector<std::string>{"member1/ConfigMap/default/c is missing"});
}

}  // namespace
}  // namespace prove
