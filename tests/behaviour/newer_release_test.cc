// A control plane of Karmada v1.19: what its scheduler, and upstream's controller manager of that
// release, write into bindings stays as it is when this program takes over. The states were not
// recorded; they are what upstream's code writes.
#include <string>
#include <utility>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "api/resources.h"
#include "base/clock.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

// A robot has two components, and needs the ConfigMap "settings".
constexpr char kRobotRules[] = R"(
    componentResource:
      luaScript: |
        function GetComponents(obj)
          return {{name = "body", replicas = 1}, {name = "arm", replicas = obj.spec.arms}}
        end
    dependencyInterpretation:
      luaScript: |
        function GetDependencies(obj)
          return {{apiVersion = "v1", kind = "ConfigMap", namespace = obj.metadata.namespace,
                   name = "settings"}}
        end
)";

// One robot goes to one cluster, for which v1.19's scheduler writes components.
constexpr char kRobotPolicy[] = R"(
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: $NS}
value: 42
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: robots, namespace: $NS}
spec:
  propagateDeps: true
  schedulePriority: {priorityClassSource: KubePriorityClass, priorityClassName: $NS}
  resourceSelectors: [{apiVersion: $NS.example.io/v1, kind: Robot}]
  placement:
    clusterAffinity: {clusterNames: [member1]}
    spreadConstraints: [{spreadByField: cluster, minGroups: 1, maxGroups: 1}]
)";

constexpr char kGate[] = "MultiplePodTemplatesScheduling=true";

config::FeatureGates SchedulerGates() {
  config::FeatureGates gates;
  REQUIRE(gates.Set(kGate).ok());
  return gates;
}

// A robot in member1, with the ConfigMap that it needs.
struct Robots {
  ControlPlane plane{{.members = 3,
                      .daemon_flags = {absl::StrCat("--feature-gates=", kGate)},
                      .release = config::Release::kV1_19,
                      .scheduler_gates = SchedulerGates()}};
  std::string ns = plane.UniqueNamespace("newer");

  Robots() {
    plane.Apply("host", In(ns, kNamespaceYaml));
    plane.ApplyEverywhere(In(ns, Definition("Robot", "robots")));
    plane.Apply("host", In(ns, Customization("Robot", kRobotRules)));
    plane.Apply("host", In(ns, Settings("one")));
    plane.Apply("host", In(ns, kRobotPolicy));
    plane.Apply("host", In(ns, kRobotYaml));
    REQUIRE(plane.Eventually([&] {
      return ClustersOf("one-robot").At(0)["components"].size() == 2 && IsApplied("one-robot") &&
             IsApplied("settings-configmap");
    }));
  }

  kube::Object Binding(const std::string& name) {
    return plane.Get("host", kBinding, {ns, name}).value_or(kube::Object());
  }
  bool IsApplied(const std::string& binding) {
    return kube::IsConditionTrue(Binding(binding).status()["conditions"], "FullyApplied");
  }
  json::Value ClustersOf(const std::string& binding) {
    return Binding(binding).Get({"spec", "clusters"});
  }
  json::Value Required() { return Binding("settings-configmap").Get({"spec", "requiredBy"}); }

  // Does what upstream does when two clusters that had the robot are evicted, and cannot be
  // reached.
  void Evict() {
    constexpr char kTask[] = R"("suppressDeletion": true, "reason": "TaintUntolerated",
        "producer": "TaintManager", "creationTimestamp": "2026-08-21T10:00:00Z")";
    const kube::ObjectKey key{ns, "one-robot"};
    plane.Patch("host", kBinding, key,
                absl::Substitute(R"({"spec": {"gracefulEvictionTasks": [
                    {"fromCluster": "member2", "purgeMode": "Gracefully", $0},
                    {"fromCluster": "member3", "purgeMode": "Directly", $0}]}})",
                                 kTask));
    REQUIRE(plane.Eventually([&] {
      const kube::Object binding = Binding("one-robot");
      return binding.status()["schedulerObservedGeneration"].AsInt() == binding.generation();
    }));
    json::Value conditions = Binding("one-robot").status()["conditions"];
    kube::SetCondition(conditions,
                       {"FullyApplied", "False", "FullyAppliedFailed",
                        "Failed to apply all works, see status.aggregatedStatus for details"},
                       base::RealClock().Now());
    plane.Patch("host", kBinding, key,
                absl::Substitute(R"({"status": {"conditions": $0}})", json::Write(conditions)),
                "status");
  }

  // Returns a line with each binding and Work, those of AwaitDaemon apart.
  std::string Objects() {
    std::string text;
    for (const kube::Resource& kind : {api::ResourceBindings(), api::Works()}) {
      const auto all = plane.fleet()->control_plane().backend().List(kind.gvr(), "", {});
      REQUIRE(all.ok());
      for (const kube::ObjectPtr& object : *all) {
        kube::Object shown = *object;
        shown.Erase({"metadata", "managedFields"});
        const std::string written = json::Write(shown.root());
        if (!absl::StrContains(written, "later-")) absl::StrAppend(&text, written, "\n");
      }
    }
    return text;
  }
  // Ends the controller manager, lets `upstream` write, and starts it again. Returns the objects
  // before and after.
  template <class Write>
  std::pair<std::string, std::string> TakenOverAfter(Write upstream) {
    REQUIRE(plane.Settles([&] { return Objects(); }));
    plane.StopDaemon();
    upstream();
    REQUIRE(plane.Settles([&] { return Objects(); }));
    std::string before = Objects();
    plane.StartDaemon();
    plane.AwaitDaemon(ns);
    return {std::move(before), Objects()};
  }
};

}  // namespace

TEST_CASE("As v1.19: components, priority and tasks of a binding outlast a take-over unwritten",
          "[sandbox]") {
  Robots robots;
  CHECK(json::Write(robots.ClustersOf("one-robot")) ==
        R"([{"components":[{"name":"body","replicas":1},{"name":"arm","replicas":2}],)"
        R"("name":"member1"}])");
  // The gate PriorityBasedScheduling is on by default in v1.19, which nobody has told the daemon.
  CHECK(robots.Binding("one-robot").Get({"spec", "schedulePriority", "priority"}).AsInt() == 42);
  const auto [before, after] = robots.TakenOverAfter([&] { robots.Evict(); });
  CHECK(after == before);
  CHECK(absl::StrContains(robots.plane.DaemonLog(), "release of Karmada behaves as=v1.19"));
}

TEST_CASE("As v1.19: an attached binding has the components of the one that needs it",
          "[sandbox]") {
  Robots robots;
  // As upstream's dependencies distributor writes it, so that giving back changes nothing either.
  const std::string wanted = json::Write(
      json::Value::Array({json::Value::Object({{"namespace", robots.ns},
                                               {"name", "one-robot"},
                                               {"clusters", robots.ClustersOf("one-robot")}})}));
  CHECK(json::Write(robots.Required()) == wanted);
  const auto [before, after] = robots.TakenOverAfter([&] {
    robots.plane.Patch("host", kBinding, {robots.ns, "settings-configmap"},
                       absl::Substitute(R"({"spec": {"requiredBy": $0}})", wanted));
  });
  CHECK(after == before);
  CHECK(json::Write(robots.Required()) == wanted);
}

TEST_CASE("As v1.19: old words for purge modes are refused", "[sandbox]") {
  Robots robots;
  const auto policy = [&](const char* mode) {
    kube::Object changed = *robots.plane.Get("host", kPolicy, {robots.ns, "robots"});
    changed.Erase({"metadata", "resourceVersion"});
    changed.Set({"spec", "failover", "application"},
                json::Value::Object(
                    {{"purgeMode", mode},
                     {"decisionConditions", json::Value::Object({{"tolerationSeconds", 1}})}}));
    return robots.plane.TryApply("host", changed);
  };
  CHECK(absl::StrContains(policy("Graciously").message(), "Unsupported value: \"Graciously\""));
  CHECK(policy("Gracefully").ok());
}

}  // namespace tests
