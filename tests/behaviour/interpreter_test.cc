// A kind without built-in rules gets them from a customization: it is divided, revised, read and
// added up.
#include <string>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

constexpr char kMachineScripts[] = R"(
    replicaResource:
      luaScript: |
        function GetReplicas(obj)
          local kube = require("kube")
          return obj.spec.count, kube.accuratePodRequirements(obj.spec.pod)
        end
    replicaRevision:
      luaScript: |
        function ReviseReplica(obj, count)
          obj.spec.count = count
          return obj
        end
    retention:
      luaScript: |
        function Retain(desired, observed)
          desired.spec.port = observed.spec.port
          return desired
        end
    statusReflection:
      luaScript: |
        function ReflectStatus(obj)
          if obj.status == nil then return {} end
          return { ready = obj.status.ready }
        end
    statusAggregation:
      luaScript: |
        function AggregateStatus(obj, items)
          obj.status = { ready = 0 }
          for _, item in ipairs(items or {}) do
            if item.status ~= nil then
              obj.status.ready = obj.status.ready + (item.status.ready or 0)
            end
          end
          return obj
        end
    healthInterpretation:
      luaScript: |
        function InterpretHealth(obj)
          return obj.status ~= nil and obj.status.ready == obj.spec.count
        end
)";

constexpr char kMachineYaml[] = R"(
apiVersion: $NS.example.io/v1
kind: Machine
metadata: {name: one, namespace: $NS}
spec:
  count: 3
  empty: {}
  none: []
  big: 9007199254740993
  pod: {spec: {containers: [{name: c, resources: {requests: {cpu: 100m}}}]}}
)";

// Returns the health that a binding has recorded for a cluster.
std::string HealthIn(ControlPlane& plane, const kube::ObjectKey& key, const std::string& cluster) {
  const auto binding = plane.Get("host", kBinding, key);
  if (!binding) return "no binding";
  for (const json::Value& item : binding->Get({"status", "aggregatedStatus"}).items()) {
    if (item["clusterName"].AsString() == cluster) return item["health"].ToString();
  }
  return "no status";
}

struct Machines {
  ControlPlane plane;
  std::string ns = plane.UniqueNamespace("machine");
  kube::Gvk gvk = DefinedKind(ns, "Machine");
  kube::ObjectKey key{ns, "one"};

  Machines() {
    plane.Apply("host", In(ns, kNamespaceYaml));
    plane.ApplyEverywhere(In(ns, Definition("Machine", "machines", StatusPlace::kSubresource)));
    plane.Apply("host", In(ns, Customization("Machine", kMachineScripts)));
    plane.Apply("host", In(ns, kMachineYaml));
    plane.Apply("host",
                In(ns, DividedPolicy("{apiVersion: $NS.example.io/v1, kind: Machine}", 2, 1)));
  }
  ~Machines() {
    plane.Delete("host", gvk, key);
    plane.Eventually([&] { return !plane.Exists("member1", gvk, key); });
    plane.Delete("host", kCustomization, {"", ns});
  }

  int64_t CountIn(const std::string& cluster) {
    const auto one = plane.Get(cluster, gvk, key);
    return one ? one->Get({"spec", "count"}).AsInt(-1) : -1;
  }
  void Report(const std::string& cluster, int64_t ready) {
    plane.Patch(cluster, gvk, key, absl::StrCat(R"({"status":{"ready":)", ready, "}}"), "status");
  }
  std::string Health(const std::string& cluster) {
    return HealthIn(plane, {ns, "one-machine"}, cluster);
  }
};

constexpr char kCombined[] = R"(
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: $NS-exact}
spec:
  target: {apiVersion: $NS.example.io/v1, kind: Robot}
  customizations:
    retention:
      luaScript: |
        function Retain(desired, observed)
          desired.spec.port = observed.spec.port
          return desired
        end
---
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: $NS-wide}
spec:
  target: {apiVersion: $NS.example.io/v1, kind: Vehicle}
  additionalTargets: [{apiVersion: $NS.example.io/*, kind: "*"}]
  customizations:
    retention:
      luaScript: |
        function Retain(desired, observed)
          desired.spec.owner = observed.spec.owner
          desired.spec.seen = desired.spec.port
          return desired
        end
    healthInterpretation:
      luaScript: |
        function InterpretHealth(obj) return obj.spec.port ~= nil end
---
apiVersion: $NS.example.io/v1
kind: Robot
metadata: {name: one, namespace: $NS}
spec: {count: 1}
)";

}  // namespace

TEST_CASE("With the gate CombinedCustomizations two customizations retain, one by a wildcard",
          "[pull]") {
  ControlPlane plane({.daemon_flags = {"--feature-gates=CombinedCustomizations=true"}});
  if (plane.fleet() == nullptr) return;  // Karmada's own definition drops additionalTargets.
  const std::string ns = plane.UniqueNamespace("robot");
  const kube::Gvk gvk = DefinedKind(ns, "Robot");
  const kube::ObjectKey key{ns, "one"};
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.ApplyEverywhere(In(ns, Definition("Robot", "robots", StatusPlace::kSubresource)));
  plane.Apply("host", In(ns, kCombined));
  plane.Apply("host", In(ns, DividedPolicy("{apiVersion: $NS.example.io/v1, kind: Robot}", 1, 1)));
  const auto health = [&] { return HealthIn(plane, {ns, "one-robot"}, "member1"); };
  REQUIRE(plane.Eventually([&] { return health() == "Unhealthy"; }));

  plane.Patch("member1", gvk, key, R"({"spec":{"port":80,"owner":"member"}})");
  plane.Patch("host", gvk, key, R"({"spec":{"count":6}})");
  CHECK(plane.Eventually([&] {
    const auto one = plane.Get("member1", gvk, key);
    return one && one->Get({"spec", "count"}).AsInt() == 6;
  }));
  CHECK(plane.Eventually([&] { return health() == "Healthy"; }));
  const auto one = plane.Get("member1", gvk, key);
  CHECK(one->Get({"spec", "port"}).AsInt() == 80);
  CHECK(one->Get({"spec", "owner"}).AsString() == "member");
  CHECK(one->Get({"spec", "seen"}).AsInt() == 80);  // The second one got the first one's result.
}

TEST_CASE("A customized kind is divided, revised, read and added up", "[pull]") {
  Machines machines;
  ControlPlane& plane = machines.plane;
  REQUIRE(plane.Eventually(
      [&] { return machines.CountIn("member1") == 2 && machines.CountIn("member2") == 1; }));
  const auto binding = plane.Get("host", kBinding, {machines.ns, "one-machine"});
  REQUIRE(binding);
  CHECK(binding->Get({"spec", "replicas"}).AsInt() == 3);
  CHECK(binding->Get({"spec", "replicaRequirements", "resourceRequest", "cpu"}).AsString() ==
        "100m");
  const auto revised = plane.Get("member1", machines.gvk, machines.key);
  CHECK(revised->Get({"spec", "empty"}) == json::Value::Object());
  CHECK(revised->Get({"spec", "none"}) == json::Value::Array());
  CHECK(revised->Get({"spec", "big"}).AsInt() == 9007199254740993);

  machines.Report("member1", 2);
  machines.Report("member2", 0);
  CHECK(plane.Eventually([&] {
    const auto one = plane.Get("host", machines.gvk, machines.key);
    return one->Get({"status", "ready"}).AsInt(-1) == 2 &&
           machines.Health("member1") == "Healthy" && machines.Health("member2") == "Unhealthy";
  }));

  SECTION("what the member chose is retained") {
    plane.Patch("member1", machines.gvk, machines.key, R"({"spec":{"port":80}})");
    plane.Patch("host", machines.gvk, machines.key, R"({"spec":{"count":6}})");
    CHECK(plane.Eventually([&] { return machines.CountIn("member1") == 4; }));
    const auto one = plane.Get("member1", machines.gvk, machines.key);
    CHECK(one->Get({"spec", "port"}).AsInt() == 80);
  }

  SECTION("a changed script is applied to what is there, though no object changed") {
    plane.Patch("host", kCustomization, {"", machines.ns},
                R"({"spec":{"customizations":{"healthInterpretation":{"luaScript":
                "function InterpretHealth(obj) return obj.status.ready == 0 end"}}}})");
    CHECK(plane.Eventually([&] {
      return machines.Health("member1") == "Unhealthy" && machines.Health("member2") == "Healthy";
    }));
    plane.Patch("host", kCustomization, {"", machines.ns},
                R"({"spec":{"customizations":{"statusAggregation":{"luaScript":
                "function AggregateStatus(obj, items) obj.status = {ready = 42} return obj end"}}}})");
    CHECK(plane.Eventually([&] {
      return plane.Get("host", machines.gvk, machines.key)->Get({"status", "ready"}).AsInt() == 42;
    }));
    plane.Patch("host", kCustomization, {"", machines.ns},
                R"({"spec":{"customizations":{"replicaResource":{"luaScript":
                "function GetReplicas(obj) return 6 end"}}}})");
    CHECK(plane.Eventually(
        [&] { return machines.CountIn("member1") == 4 && machines.CountIn("member2") == 2; }));
  }

  SECTION("a misspelt function is reported on the template, and a repaired rule heals it") {
    plane.Patch("host", kCustomization, {"", machines.ns},
                R"({"spec":{"customizations":{"statusAggregation":{"luaScript":
                "function AggregateStats(obj, items) obj.status = {ready = 42} return obj end"}}}})");
    CHECK(plane.Eventually([&] {
      return absl::StrContains(plane.EventsOn(machines.gvk, "one"),
                               "not found function AggregateStatus");
    }));
    machines.Report("member1", 1);
    plane.Patch("host", kCustomization, {"", machines.ns},
                R"({"spec":{"customizations":{"statusAggregation":{"luaScript":
                "function AggregateStatus(obj, items) obj.status = {ready = 42} return obj end"}}}})");
    CHECK(plane.Eventually([&] {
      return plane.Get("host", machines.gvk, machines.key)->Get({"status", "ready"}).AsInt() == 42;
    }));
  }

  SECTION("a failing script makes health unknown and takes nothing else down") {
    plane.Patch("host", kCustomization, {"", machines.ns},
                R"({"spec":{"customizations":{"healthInterpretation":{"luaScript":
                "function InterpretHealth(obj) error('broken') end"}}}})");
    CHECK(plane.Eventually([&] { return machines.Health("member1") == "Unknown"; }));
    plane.Patch("host", machines.gvk, machines.key, R"({"spec":{"count":9}})");
    CHECK(plane.Eventually([&] { return machines.CountIn("member1") == 6; }));
  }
}

}  // namespace tests
