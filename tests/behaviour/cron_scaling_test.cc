// CronFederatedHPAs scale at given times.
#include <set>
#include <string>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

const kube::Gvk kCronHpa{"autoscaling.karmada.io", "v1alpha1", "CronFederatedHPA"};
const kube::Gvk kHpa{"autoscaling.karmada.io", "v1alpha1", "FederatedHPA"};
// A rule for every minute is executed within one.
constexpr absl::Duration kWithin = absl::Seconds(90);

constexpr char kWebHpaYaml[] = R"(
apiVersion: autoscaling.karmada.io/v1alpha1
kind: FederatedHPA
metadata: {name: web, namespace: $NS}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: absent}
  minReplicas: 1
  maxReplicas: 4
)";

// Returns a CronFederatedHPA; `target` and `rules` are in YAML's flow style.
std::string CronHpa(const std::string& name, const std::string& target, const std::string& rules) {
  return absl::StrCat(R"(
apiVersion: autoscaling.karmada.io/v1alpha1
kind: CronFederatedHPA
metadata: {namespace: $NS, name: )",
                      name, "}\nspec:\n  scaleTargetRef: {", target, "}\n  rules: [", rules, "]\n");
}

constexpr char kWebTarget[] = "apiVersion: apps/v1, kind: Deployment, name: web";

struct Plane {
  ControlPlane plane;
  std::string ns = plane.UniqueNamespace("cron");

  Plane() { plane.Apply("host", In(ns, kNamespaceYaml)); }

  void Apply(const std::string& yaml) { plane.Apply("host", In(ns, yaml)); }
  // Returns a null value if there is no such item.
  json::Value History(const std::string& name, size_t rule = 0) {
    const auto object = plane.Get("host", kCronHpa, {ns, name});
    return object ? object->status()["executionHistories"].At(rule) : json::Value();
  }
  json::Value LastSuccess(const std::string& name) {
    return History(name)["successfulExecutions"].At(0);
  }
  bool HasNext(const std::string& name, size_t rule = 0) {
    return History(name, rule).Has("nextExecutionTime");
  }
  int64_t ReplicasIn(const std::string& cluster) {
    const auto web = plane.Get(cluster, kDeployment, {ns, "web"});
    return web ? web->spec()["replicas"].AsInt() : -1;
  }
  std::string Version(const std::string& name) {
    return std::string(plane.Get("host", kCronHpa, {ns, name})->resource_version());
  }
};

}  // namespace

TEST_CASE("CronFederatedHPAs scale a Deployment and the bounds of a FederatedHPA at their times") {
  Plane p;
  p.Apply(WebDeployment());
  p.Apply(DividedPolicy(kWebSelector, 1, 1));
  p.Apply(kWebHpaYaml);
  REQUIRE(p.plane.Eventually([&] { return p.ReplicasIn("member1") == 1; }));
  p.Apply(CronHpa("workload", kWebTarget, R"({name: up, schedule: "* * * * *", targetReplicas: 6},
      {name: paused, schedule: "* * * * *", targetReplicas: 9, suspend: true},
      {name: far, schedule: "0 0 29 feb *", timeZone: Europe/Berlin, targetReplicas: 1})"));
  p.Apply(CronHpa("bounds",
                  "apiVersion: autoscaling.karmada.io/v1alpha1, kind: FederatedHPA, name: web",
                  R"({name: up, schedule: "*/1 * * * *", targetMaxReplicas: 20})"));
  p.Apply(CronHpa("lost", "apiVersion: apps/v1, kind: Deployment, name: lost",
                  R"({name: up, schedule: "* * * * ?", targetReplicas: 6})"));
  // The next times are there at once.
  REQUIRE(p.plane.Eventually([&] { return p.HasNext("workload", 2) && p.HasNext("lost"); }));
  CHECK_FALSE(p.HasNext("workload", 1));
  // Midnight in Berlin, in winter, is 23:00 of the day before.
  CHECK(
      absl::EndsWith(p.History("workload", 2)["nextExecutionTime"].AsString(), "-02-28T23:00:00Z"));

  REQUIRE(p.plane.Eventually([&] { return !p.LastSuccess("workload").is_null(); }, kWithin));
  const json::Value success = p.LastSuccess("workload");
  CHECK(success["appliedReplicas"].AsInt() == 6);
  const auto scheduled = kube::ParseTime(success["scheduleTime"].AsString());
  const auto executed = kube::ParseTime(success["executionTime"].AsString());
  REQUIRE((scheduled.ok() && executed.ok()));
  CHECK(*scheduled == absl::FromUnixSeconds(absl::ToUnixSeconds(*scheduled) / 60 * 60));
  CHECK(*executed >= *scheduled);
  CHECK(*executed < *scheduled + absl::Seconds(30));
  CHECK(p.plane.Get("host", kDeployment, {p.ns, "web"})->spec()["replicas"].AsInt() == 6);
  CHECK(p.plane.Eventually(
      [&] { return p.ReplicasIn("member1") == 3 && p.ReplicasIn("member2") == 3; }));

  CHECK(p.plane.Eventually([&] {
    return p.plane.Get("host", kHpa, {p.ns, "web"})->spec()["maxReplicas"].AsInt() == 20;
  }));
  CHECK(p.plane.Get("host", kHpa, {p.ns, "web"})->spec()["minReplicas"].AsInt() == 1);
  CHECK(p.plane.Eventually(
      [&] { return p.LastSuccess("bounds")["appliedMaxReplicas"].AsInt() == 20; }));

  CHECK(p.plane.Eventually([&] { return p.History("lost").Has("failedExecutions"); }));
  CHECK(p.History("lost")["failedExecutions"].At(0)["message"].AsString() ==
        "deployments.apps \"lost\" not found");
  CHECK(p.plane.Eventually([&] {
    return absl::StrContains(p.plane.EventsOn(kCronHpa, "lost"), "Warning ScaleFailed: ");
  }));
}

TEST_CASE("A CronFederatedHPA whose rules are far away is written once, and not by a restart") {
  Plane p;
  p.Apply(CronHpa("far", kWebTarget, R"({name: far, schedule: "0 0 29 2 *", targetReplicas: 1},
      {name: paused, schedule: "* * * * *", targetReplicas: 9, suspend: true})"));
  REQUIRE(p.plane.Eventually([&] { return p.HasNext("far") && !p.History("far", 1).is_null(); }));
  const std::string version = p.Version("far");
  p.plane.StopDaemon();
  p.plane.StartDaemon();
  // Another object shows that the restarted program has been at work.
  p.Apply(
      CronHpa("later", kWebTarget, R"({name: far, schedule: "0 0 29 2 *", targetReplicas: 1})"));
  REQUIRE(p.plane.Eventually([&] { return p.HasNext("later"); }));
  CHECK(p.Version("far") == version);
  // A rule that goes takes its history along.
  p.plane.Patch("host", kCronHpa, {p.ns, "far"},
                R"({"spec": {"rules": [{"name": "paused", "schedule": "@daily", "suspend": true,
                                        "targetReplicas": 9}]}})");
  CHECK(p.plane.Eventually([&] {
    return p.History("far")["ruleName"].AsString() == "paused" && p.History("far", 1).is_null();
  }));
}

// karmada-webhook accepts no intervals, and no schedules without a time.
TEST_CASE("What was due while the program was restarted is made up for, once", "[sandbox]") {
  Plane p;
  p.Apply(WebDeployment());
  p.Apply(CronHpa("often", kWebTarget, R"({name: up, schedule: "@every 4s", targetReplicas: 6,
      successfulHistoryLimit: 30})"));
  REQUIRE(p.plane.Eventually([&] { return p.HasNext("often"); }));
  const std::string next = p.History("often")["nextExecutionTime"].ToString();
  p.plane.KillDaemon();
  absl::SleepFor(*kube::ParseTime(next) + absl::Seconds(1) - absl::Now());
  CHECK(p.LastSuccess("often").is_null());
  p.plane.StartDaemon();
  REQUIRE(p.plane.Eventually([&] { return !p.LastSuccess("often").is_null(); }));
  REQUIRE(
      p.plane.Eventually([&] { return p.History("often")["successfulExecutions"].size() > 2; }));
  std::set<std::string> times;
  const json::Value history = p.History("often");
  for (const json::Value& execution : history["successfulExecutions"].items()) {
    CHECK(times.insert(execution["scheduleTime"].ToString()).second);
    // The rhythm stays.
    CHECK((*kube::ParseTime(execution["scheduleTime"].AsString()) - *kube::ParseTime(next)) %
              absl::Seconds(4) ==
          absl::ZeroDuration());
  }
}

TEST_CASE("Rules that cannot be executed are reported, and others are executed", "[sandbox]") {
  Plane p;
  p.Apply(WebDeployment());
  p.Apply(CronHpa("mixed", kWebTarget, R"({name: never, schedule: "0 0 30 2 *", targetReplicas: 1},
      {name: typo, schedule: "0 25 * * *", targetReplicas: 1},
      {name: zone, schedule: "@daily", timeZone: Mars/Olympus, targetReplicas: 1},
      {name: up, schedule: "@every 2s", targetReplicas: 6})"));
  CHECK(p.plane.Eventually([&] { return !p.LastSuccess("mixed").is_null(); }));
  CHECK(p.History("mixed")["ruleName"].AsString() == "up");
  CHECK(p.plane.Eventually([&] {
    const std::string events = p.plane.EventsOn(kCronHpa, "mixed");
    return absl::StrContains(events, "so it is never executed (rule never)") &&
           absl::StrContains(events, "end of range (25) above maximum (23): 25 (rule typo)") &&
           absl::StrContains(events, "unknown time zone Mars/Olympus (rule zone)");
  }));
}

}  // namespace tests
