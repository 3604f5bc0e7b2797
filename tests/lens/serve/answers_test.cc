// Bounds of answers, commands to copy, and what a search wants.
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/yaml.h"
#include "lens/serve/bounds.h"
#include "lens/serve/commands.h"
#include "lens/serve/fleet_reading.h"
#include "lens/serve/found.h"
#include "lens/serve/shown.h"
#include "tests/support/fake_clock.h"

namespace lens::serve {
namespace {

fleet::Fleet FleetWith(int troubles, const std::string& headline) {
  fleet::Fleet fleet;
  fleet.templates = troubles;
  for (int i = 0; i < troubles; ++i) {
    fleet::Trouble one{{"apps", "v1", "Deployment"},
                       {"shop", absl::StrCat("web-", i)},
                       "PropagationPolicy shop/web",
                       {why::Step::kMember}};
    one.cause.cluster = "member2";
    one.brief = absl::StrCat("cause ", i % 7);
    one.headline = headline;
    fleet.troubles.push_back(one);
  }
  return fleet;
}

}  // namespace

TEST_CASE("Serve: the answer about the fleet has a bound, and says what it leaves out") {
  const FleetAnswer answer =
      AnswerOf(FleetWith(5000, std::string(5000, 'x')), absl::Seconds(1), tests::FakeClock());
  REQUIRE(answer.status.ok());
  CHECK(answer.json->size() <= kMostFleetBytes + 200);
  CHECK(answer.not_fine == 5000);
  CHECK(answer.by_cluster.at("member2") == 5000);
  const json::Value json = json::Parse(*answer.json).value();
  int64_t all = 0;
  for (const json::Value& group : json["groups"].items()) {
    all += group["leftOut"].AsInt() + static_cast<int64_t>(group["templates"].size());
    CHECK(group["leftOut"].AsInt() > 0);
  }
  CHECK(all == 5000);
}

TEST_CASE("Serve: the fingerprint is that of what was found, not of when") {
  tests::FakeClock clock;
  const auto of = [&](int troubles) {
    return AnswerOf(FleetWith(troubles, "h"), absl::Seconds(1), clock).fingerprint;
  };
  const std::string of_three = of(3);
  clock.Advance(absl::Hours(1));
  CHECK(of(3) == of_three);
  CHECK(of(4) != of_three);
}

TEST_CASE("Serve: one reading is for all who ask meanwhile, and it is not kept for long") {
  FleetReading reading;
  int told = 0;
  const auto done = [&](const FleetAnswerPtr&) { ++told; };
  tests::FakeClock clock;
  const base::SteadyTime now = clock.SteadyNow();
  CHECK(reading.IsDue(now));
  const auto has_to_read = [&](absl::Duration later) {
    return reading.Want(absl::Seconds(5), now + later, done).value().has_to_read;
  };
  CHECK(has_to_read(absl::ZeroDuration()));
  CHECK_FALSE(has_to_read(absl::ZeroDuration()));
  CHECK_FALSE(reading.Begin());
  CHECK_FALSE(reading.IsDue(now));
  reading.Finish(AnswerOf(FleetWith(1, "h"), absl::Seconds(4), clock));
  CHECK(told == 2);
  CHECK_FALSE(has_to_read(absl::Seconds(5)));
  CHECK(told == 3);
  // What took long to read is read seldom.
  CHECK_FALSE(reading.IsDue(now + absl::Seconds(11)));
  CHECK(reading.IsDue(now + absl::Seconds(12)));
  CHECK(has_to_read(absl::Seconds(6)));
  reading.Finish(AnswerOf(absl::UnavailableError("gone"), absl::Seconds(1), clock));
  // An error is not kept for anybody who asks later.
  CHECK(has_to_read(absl::ZeroDuration()));
}

TEST_CASE("Serve: who does not wait any more is not answered, and so many wait and no more") {
  FleetReading reading;
  int told = 0;
  const base::SteadyTime now = tests::FakeClock().SteadyNow();
  const auto want = [&] {
    return reading.Want(absl::Seconds(5), now, [&](const FleetAnswerPtr&) { ++told; });
  };
  const uint64_t first = want().value().ticket;
  for (size_t i = 1; i < kMostWaiting; ++i) REQUIRE(want().ok());
  CHECK(absl::IsResourceExhausted(want().status()));
  CHECK(reading.GiveUp(first));
  CHECK_FALSE(reading.GiveUp(first));
  const uint64_t last = want().value().ticket;
  reading.Finish(AnswerOf(FleetWith(1, "h"), absl::Seconds(1), tests::FakeClock()));
  CHECK(told == static_cast<int>(kMostWaiting));
  CHECK_FALSE(reading.GiveUp(last));
}

TEST_CASE("Serve: counts are shown beside newer things for a minute, and say of when they are") {
  tests::FakeClock clock;
  FleetReading reading;
  CHECK(reading.CountsAt(clock.SteadyNow()).InCluster("member2").is_null());
  CHECK(reading.CountsAt(clock.SteadyNow()).ReadAt().is_null());
  const FleetAnswer good = AnswerOf(FleetWith(2, "h"), absl::Seconds(1), clock);
  reading.Finish(good);
  clock.Advance(absl::Seconds(50));
  // What could not be read since has not changed them.
  reading.Finish(AnswerOf(absl::UnavailableError("gone"), absl::Seconds(1), clock));
  const NotFine counts = reading.CountsAt(clock.SteadyNow());
  CHECK(counts.is_known);
  CHECK(counts.InCluster("member2") == json::Value(2));
  CHECK(counts.InCluster("member1") == json::Value(0));
  CHECK(counts.OfPolicy("PropagationPolicy shop/web") == json::Value(2));
  CHECK(counts.ReadAt() == TimeAsJson(good.at));
  clock.Advance(absl::Seconds(11));
  CHECK_FALSE(reading.CountsAt(clock.SteadyNow()).is_known);
  CHECK(reading.CountsAt(clock.SteadyNow()).InCluster("member2").is_null());
}

TEST_CASE("Serve: a fleet that takes too long is not read all the time") {
  tests::FakeClock clock;
  const FleetAnswer late = AnswerOf(absl::DeadlineExceededError("late"), absl::Seconds(30), clock);
  CHECK(IsRecent(late, clock.SteadyNow() + absl::Seconds(89)));
  CHECK_FALSE(IsRecent(late, clock.SteadyNow() + absl::Seconds(90)));
  const FleetAnswer gone = AnswerOf(absl::UnavailableError("gone"), absl::Seconds(30), clock);
  CHECK_FALSE(IsRecent(gone, clock.SteadyNow() + absl::Seconds(5)));
}

TEST_CASE("Serve: a name cannot add a command to the one that is copied") {
  CHECK(ShellWord("web-1.2:x") == "web-1.2:x");
  CHECK(ShellWord("") == "''");
  CHECK(ShellWord("a; rm -rf ~") == "'a; rm -rf ~'");
  CHECK(ShellWord("a'$(b)") == R"('a'\''$(b)')");
  // What is copied is what is seen: nothing but printable ASCII.
  CHECK(ShellWord("a\nb") == R"($'a\x0ab')");
  CHECK(ShellWord("\x03"
                  "f'\\") == R"($'\x03f\'\\')");
  CHECK(ShellWord("\u202ea") == R"($'\xe2\x80\xaea')");
}

TEST_CASE("Serve: commands name the control plane, and no name is taken for a flag") {
  why::Question question;
  question.gvk = {"rbac.authorization.k8s.io", "v1", "Role"};
  question.key = {"shop", "--server=evil"};
  question.flags = " --context 'a b'";
  const auto chain = why::EmptyChain(std::move(question), absl::Now());
  REQUIRE(chain.ok());
  kube::Resource roles{{"rbac.authorization.k8s.io", "v1", "Role"}, "roles", true};
  const json::Value commands = CommandsFor(*chain, roles);
  CHECK(commands.At(0)["command"].AsString() ==
        "karmada-lens why Role/--server=evil -n shop --context 'a b'");
  CHECK(commands.At(1)["command"].AsString() ==
        "kubectl --context 'a b' -n shop get roles.rbac.authorization.k8s.io -o yaml -- "
        "--server=evil");
}

TEST_CASE("Serve: kinds in links name group and version") {
  CHECK(TypeOf("apps/v1", "Deployment") == "Deployment.v1.apps");
  CHECK(TypeOf("v1", "ConfigMap") == "ConfigMap.v1");
}

TEST_CASE("Serve: a search wants all that is given") {
  const kube::Object pod(yaml::Parse(R"(
apiVersion: v1
kind: Pod
metadata:
  {name: web-5d4-x1, namespace: shop, ownerReferences: [{kind: ReplicaSet, name: web-5d4}]}
spec: {nodeName: node1, containers: [{image: "registry.example/nginx:1.25"}]}
status: {phase: Running}
)")
                             .value());
  CHECK(Wanted{}.Has(pod));
  CHECK(Wanted{.name = "5D4"}.Has(pod));
  CHECK(Wanted{.image = "NGINX:1.2", .node = "node1", .owner = "replicaset/web"}.Has(pod));
  CHECK_FALSE(Wanted{.image = "nginx:1.26"}.Has(pod));
  CHECK_FALSE(Wanted{.node = "node"}.Has(pod));
  CHECK_FALSE(Wanted{.owner = "api"}.Has(pod));
  const json::Value shown = FoundJson(pod, "member1");
  CHECK(shown["state"].AsString() == "Running");
  CHECK(shown["owner"].AsString() == "ReplicaSet/web-5d4");
  CHECK(shown["images"].At(0).AsString() == "registry.example/nginx:1.25");
}

}  // namespace lens::serve
