// An agent that is started while its control plane cannot be reached.
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/agents/day/day.h"

namespace tests {
namespace {

constexpr char kDrift[] =
    "\"on\": member2\npatch: [{target: "
    "deployment/shop/web, merge: {spec: {replicas: 7}}}]";
constexpr char kWaits[] = "the agent waits for its control plane, and leaves the cluster as it is";

}  // namespace

TEST_CASE(
    "An agent that is started without its control plane says what it waits for, leaves the cluster "
    "as it is, and goes on when the control plane is there") {
  const LinkState away = GENERATE(LinkState::kRefused, LinkState::kSilent);
  Day day;
  day.Begin();
  day.KillAgent();
  day.to_plane().Set(away);
  day.Do(kDrift);
  day.Do("patch: [{target: deployment/shop/api, merge: {spec: {replicas: 4}}}]");
  const std::vector<std::string> before = day.Member();
  const base::SteadyTime start = day.Now();
  const size_t log = day.Log().size();
  day.StartAgent();
  day.Pass(absl::Minutes(5));
  CHECK_THAT(day.Log().substr(log), Catch::Contains(kWaits));
  CHECK_THAT(day.Readyz(), Catch::Contains("500 ") &&
                               Catch::Contains("[-]control-plane failed: the agent waits"));
  day.Pass(absl::Hours(6));
  CHECK(day.in_member().Since(start).empty());
  CHECK(day.Member() == before);
  CHECK(day.starts() == 2);  // One of them is the first one.
  CHECK(day.Log().size() - log < 100'000);
  CHECK(day.to_plane().Since(start).size() < 6 * 3'600 / 2);

  day.to_plane().Set(LinkState::kUp);
  CHECK(day.Within(absl::Minutes(2), [&] {
    return day.ReplicasInMember("web") == 3 && day.ReplicasInMember("api") == 4 &&
           day.Ready() == "True";
  }));
  CHECK_THAT(day.Readyz(), Catch::Contains("200 "));
}

TEST_CASE(
    "An agent with leader election ends without its control plane, waits, and goes on when it is "
    "there") {
  Day day;
  day.Begin();
  day.to_plane().Set(LinkState::kRefused);
  const base::SteadyTime left = day.Now();
  CHECK(day.Within(absl::Minutes(2), [&] { return day.starts() == 2; }));
  day.Pass(absl::Hours(2));
  CHECK(day.starts() == 2);
  CHECK(day.in_member().WritesSince(left).empty());
  day.Do("patch: [{target: deployment/shop/web, merge: {spec: {replicas: 5}}}]");
  day.to_plane().Set(LinkState::kUp);
  CHECK(day.Within(absl::Minutes(2), [&] { return day.ReplicasInMember("web") == 5; }));
}

}  // namespace tests
