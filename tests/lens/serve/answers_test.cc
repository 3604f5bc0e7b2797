// Bounds of answers, commands to copy, and what a search wants.
#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/str_cat.h"
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
  CHECK(reading.Want(absl::Seconds(5), now, done));
  CHECK_FALSE(reading.Want(absl::Seconds(5), now, done));
  CHECK_FALSE(reading.IsDue(now));
  reading.Finish(AnswerOf(FleetWith(1, "h"), absl::Seconds(4), clock));
  CHECK(told == 2);
  CHECK_FALSE(reading.Want(absl::Seconds(5), now + absl::Seconds(5), done));
  CHECK(told == 3);
  // What took long to read is read seldom.
  CHECK_FALSE(reading.IsDue(now + absl::Seconds(11)));
  CHECK(reading.IsDue(now + absl::Seconds(12)));
  CHECK(reading.Want(absl::Seconds(5), now + absl::Seconds(6), done));
  reading.Finish(AnswerOf(absl::UnavailableError("gone"), absl::Seconds(1), clock));
  // An error is not kept for anybody who asks later.
  CHECK(reading.Want(absl::Seconds(5), now, done));
}

TEST_CASE("Serve: a name cannot add a command to the one that is copied") {
  CHECK(ShellWord("web-1.2:x") == "web-1.2:x");
  CHECK(ShellWord("") == "''");
  CHECK(ShellWord("a; rm -rf ~") == "'a; rm -rf ~'");
  CHECK(ShellWord("a'$(b)") == R"('a'\''$(b)')");
  CHECK(ShellWord("a\nb") == "'a\nb'");
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
