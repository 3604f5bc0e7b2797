// Credentials that are not valid when the control plane is back, and clocks that are wrong.
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"
#include "sandbox/api_server.h"
#include "tests/agents/day/day.h"

namespace tests {
namespace {

constexpr char kUser[] = "system:karmada:agent:member2";
constexpr char kDrift[] =
    "\"on\": member2\npatch: [{target: "
    "deployment/shop/web, merge: {spec: {replicas: 7}}}]";
constexpr char kEdit[] = "patch: [{target: deployment/shop/web, merge: {spec: {replicas: 5}}}]";

// A day whose agent has a token, which can be revoked.
struct WithToken : Day {
  explicit WithToken(std::vector<std::string> flags) : Day(std::move(flags)) { Give("first"); }
  sandbox::ApiServer& plane() { return stage().fleet().control_plane(); }
  void Give(const std::string& token) {
    plane().AddToken(token, kUser);
    WriteKubeconfig(Day::WithToken(token));
  }
};

}  // namespace

TEST_CASE(
    "Credentials that are refused when the control plane is back are named in the log, cost the "
    "cluster nothing, and are mended by another kubeconfig",
    "[long]") {
  WithToken day({"--leader-elect=false"});
  day.Begin();
  day.to_plane().Set(LinkState::kRefused);
  day.Pass(absl::Hours(2));
  day.plane().RevokeToken("first");
  const size_t log = day.Log().size();
  day.to_plane().Set(LinkState::kUp);
  const std::vector<std::string> before = day.Member();
  day.Pass(absl::Minutes(10));
  CHECK_THAT(day.Log().substr(log), Catch::Contains("Unauthorized"));
  CHECK(day.Member() == before);
  day.Do(kDrift);
  CHECK(day.Within(absl::Minutes(5), [&] { return day.ReplicasInMember("web") == 3; }));
  day.Do(kEdit);
  day.Pass(absl::Hours(2));
  CHECK(day.ReplicasInMember("web") == 3);
  CHECK(day.starts() == 1);
  CHECK(day.Log().size() - log < 500'000);

  day.Give("second");
  CHECK(day.Within(absl::Minutes(2),
                   [&] { return day.ReplicasInMember("web") == 5 && day.Ready() == "True"; }));
  CHECK(day.starts() == 1);
}

TEST_CASE(
    "An agent that is started with credentials that are refused says so, and goes on with another "
    "kubeconfig") {
  WithToken day({});
  day.Begin();
  day.KillAgent();
  day.plane().RevokeToken("first");
  day.Do(kEdit);
  const base::SteadyTime start = day.Now();
  const size_t log = day.Log().size();
  day.StartAgent();
  day.Pass(absl::Minutes(30));
  CHECK_THAT(
      day.Log().substr(log),
      Catch::Contains("it refuses the credentials of --karmada-kubeconfig (401 Unauthorized)"));
  CHECK_THAT(day.Readyz(), Catch::Contains("[-]control-plane failed"));
  CHECK(day.in_member().Since(start).empty());
  CHECK(day.starts() == 2);
  day.Give("second");
  CHECK(day.Within(absl::Minutes(1), [&] { return day.ReplicasInMember("web") == 5; }));
  CHECK(day.starts() == 2);
}

TEST_CASE("A certificate that has expired is named in the log, and another one mends it") {
  Day day({"--leader-elect=false"});
  day.Begin();
  day.KillAgent();
  // The clock of the servers is a year ahead; certificates are valid for one.
  day.time().SetWallOffset(getpid(), absl::Hours(24 * 366));
  day.Do(kEdit);
  const base::SteadyTime start = day.Now();
  const size_t log = day.Log().size();
  day.StartAgent();
  day.Pass(absl::Minutes(10));
  CHECK_THAT(day.Log().substr(log), Catch::Contains("certificate") && Catch::Contains("expired"));
  CHECK_THAT(day.Readyz(), Catch::Contains("[-]control-plane failed"));
  CHECK(day.in_member().Since(start).empty());
  day.WriteKubeconfig(*day.stage().fleet().AgentKubeconfig("member2"));
  day.Pass(absl::Minutes(1));
  CHECK_THAT(day.Log().substr(log), Catch::Contains("the control plane is there"));
}

TEST_CASE(
    "An agent whose clock is wrong names the certificate that is not valid by it, and goes on when "
    "the clock is right") {
  Day day;
  day.Begin();
  day.KillAgent();
  day.Do(kEdit);
  const base::SteadyTime start = day.Now();
  const size_t log = day.Log().size();
  const absl::Duration wrong = GENERATE(-absl::Hours(24 * 30), absl::Hours(24 * 400));
  day.StartAgent();
  day.time().SetWallOffset(day.stage().daemon(), wrong);
  day.Pass(absl::Minutes(10));
  CHECK_THAT(day.Log().substr(log), Catch::Contains("not yet valid") || Catch::Contains("expired"));
  CHECK(day.in_member().WritesSince(start).empty());
  day.time().SetWallOffset(day.stage().daemon(), absl::ZeroDuration());
  CHECK(day.Within(absl::Minutes(2), [&] { return day.ReplicasInMember("web") == 5; }));
}

TEST_CASE("A clock that is stepped while the agent runs costs its cluster nothing") {
  Day day;
  day.Begin();
  const base::SteadyTime start = day.Now();
  for (const absl::Duration wrong : {absl::Minutes(10), -absl::Minutes(10), absl::ZeroDuration()}) {
    day.time().SetWallOffset(day.stage().daemon(), wrong);
    day.Pass(absl::Minutes(3));
    CHECK(day.Ready() == "True");
  }
  CHECK(day.starts() == 1);
  CHECK(day.in_member().WritesSince(start).empty());
}

TEST_CASE("A kubeconfig that is damaged while the agent runs leaves the last one in use") {
  Day day;
  day.Begin();
  const std::string good = day.Kubeconfig();
  const size_t log = day.Log().size();
  for (const std::string& bad :
       {std::string(), std::string("clusters: ["), good.substr(0, good.size() / 2)}) {
    day.WriteKubeconfig(bad);
    day.Pass(absl::Minutes(1));
  }
  CHECK_THAT(day.Log().substr(log),
             Catch::Contains("cannot be read again; the last one stays in use") &&
                 Catch::Contains("agent.kubeconfig"));
  day.Do(kEdit);
  CHECK(day.Within(absl::Minutes(1), [&] { return day.ReplicasInMember("web") == 5; }));
  day.WriteKubeconfig(good);
  day.Pass(absl::Minutes(1));
  CHECK(day.Ready() == "True");
  CHECK(day.starts() == 1);
}

}  // namespace tests
