// Links that are there, but bad.
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/agents/day/day.h"

namespace tests {

TEST_CASE("Over a link on which each request takes seconds a cluster is served and stays ready") {
  const absl::Duration delay = GENERATE(absl::Seconds(3), absl::Seconds(8));
  Day day({"--leader-elect=false"});
  day.Begin();
  day.to_plane().SetDelay(delay);
  for (int i = 0; i < 12; ++i) {
    day.Pass(absl::Minutes(1));
    CHECK(day.Ready() == "True");
  }
  day.Do("patch: [{target: deployment/shop/web, merge: {spec: {replicas: 5}}}]");
  CHECK(day.Within(absl::Minutes(2), [&] { return day.ReplicasInMember("web") == 5; }));
  day.Do("delete: [deployment/shop/api]");
  CHECK(
      day.Within(absl::Minutes(2), [&] { return day.InMember("deployments", "api") == nullptr; }));
  day.KillAgent();
  day.StartAgent();
  day.Do("patch: [{target: deployment/shop/web, merge: {spec: {replicas: 2}}}]");
  CHECK(day.Within(absl::Minutes(5), [&] { return day.ReplicasInMember("web") == 2; }));
}

TEST_CASE("Answers that are cut in their middle take nothing from a cluster", "[long]") {
  Day day({"--leader-elect=false"});
  day.Begin();
  const std::vector<std::string> before = day.Member();
  const base::SteadyTime left = day.Now();
  day.to_plane().Set(LinkState::kCut);
  day.Pass(absl::Minutes(30));
  CHECK(day.Member() == before);
  // One that is started then knows nothing of its Works.
  day.KillAgent();
  day.StartAgent();
  day.Pass(absl::Minutes(30));
  CHECK(day.in_member().WritesSince(left).empty());
  CHECK(day.Member() == before);
  day.Do("patch: [{target: deployment/shop/web, merge: {spec: {replicas: 5}}}]");
  day.Do("delete: [deployment/shop/api]");
  day.to_plane().Set(LinkState::kUp);
  CHECK(day.Within(absl::Minutes(10), [&] {
    return day.ReplicasInMember("web") == 5 && day.InMember("deployments", "api") == nullptr &&
           day.Ready() == "True";
  }));
}

}  // namespace tests
