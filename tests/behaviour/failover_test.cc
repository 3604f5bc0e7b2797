// Workloads that stay unhealthy in a cluster, or whose cluster is tainted, are moved to another
// one, and leave the first as their policy says. The kind's health is what the test writes into the
// status of its object in a member; without a status it is unknown.
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "api/keys.h"
#include "api/names.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

// Its health, and a ConfigMap "settings" that it needs.
constexpr char kScripts[] = R"(    healthInterpretation:
      luaScript: >
        function InterpretHealth(observedObj)
          return observedObj.status.ok
        end
    dependencyInterpretation:
      luaScript: >
        function GetDependencies(obj)
          return {{apiVersion = "v1", kind = "ConfigMap", namespace = obj.metadata.namespace,
                   name = "settings"}}
        end
)";

// In YAML's flow style: what the policy says about the failover of applications; "" for nothing.
std::string PolicyWith(const std::string& application) {
  return absl::Substitute(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: robots, namespace: $$NS}
spec:
  resourceSelectors: [{apiVersion: $$NS.example.io/v1, kind: Robot}]
  propagateDeps: true
  failover: {$0}
  placement:
    clusterAffinity: {clusterNames: [member1, member2]}
    spreadConstraints: [{spreadByField: cluster, minGroups: 1, maxGroups: 1}]
)",
                          application.empty() ? "" : absl::StrCat("application: ", application));
}

// The taint manager evicts at once; tasks end after this time ("10m").
ControlPlane::Options EvictingWith(const std::string& timeout,
                                   const std::string& further_gates = "") {
  return {.daemon_flags = {absl::StrCat("--feature-gates=Failover=true", further_gates),
                           "--enable-no-execute-taint-eviction", "--resource-eviction-rate=100",
                           absl::StrCat("--graceful-eviction-timeout=", timeout)}};
}

// A robot that runs in one of two members.
struct Moving {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("failover");
  const kube::Gvk kind = DefinedKind(ns, "Robot");
  const kube::ObjectKey robot = {ns, "one"};
  const kube::ObjectKey binding = {ns, "one-robot"};
  std::string from, to;  // The member that has it at first, and the other one.
  bool tainted = false;

  explicit Moving(const std::string& failover, ControlPlane::Options options = {})
      : plane(std::move(options)) {
    plane.ApplyEverywhere(In(ns, Definition("Robot", "robots", StatusPlace::kSubresource)));
    plane.Apply("host", In(ns, kNamespaceYaml));
    plane.Apply("host", In(ns, Customization("Robot", kScripts)));
    plane.Apply("host", In(ns, Settings("here")));
    plane.Apply("host", In(ns, PolicyWith(failover)));
    plane.Apply("host", In(ns, kRobotYaml));
    REQUIRE(plane.Eventually([&] { return IsIn("member1") || IsIn("member2"); }));
    from = IsIn("member1") ? "member1" : "member2";
    to = from == "member1" ? "member2" : "member1";
  }
  ~Moving() {
    if (tainted) plane.Patch("host", kCluster, {"", from}, R"({"spec":{"taints":null}})");
    plane.Delete("host", kCustomization, {"", ns});
  }

  bool IsIn(const std::string& cluster) { return plane.Exists(cluster, kind, robot); }
  bool HasSettings(const std::string& cluster) {
    return plane.Exists(cluster, kConfigMap, {ns, "settings"});
  }
  void Report(const std::string& cluster, bool ok, int step = 7) {
    plane.Patch(cluster, kind, robot,
                absl::Substitute(R"({"status":{"ok":$0,"step":$1}})", ok ? "true" : "false", step),
                "status");
  }
  void TaintCluster() {
    tainted = true;
    plane.Patch("host", kCluster, {"", from},
                R"({"spec":{"taints":[{"key":"example.com/down","effect":"NoExecute"}]}})");
  }
  json::Value Tasks() {
    const auto object = plane.Get("host", kBinding, binding);
    return object ? object->Get({"spec", "gracefulEvictionTasks"}) : json::Value();
  }
  // Returns since when the binding says that the robot is unhealthy; "" when it does not.
  std::string UnhealthySince() {
    const auto object = plane.Get("host", kBinding, binding);
    const json::Value* condition = object ? kube::FindCondition(object->status()["conditions"],
                                                                absl::StrCat(from, "/Unhealthy"))
                                          : nullptr;
    return condition == nullptr ? "" : (*condition)["lastTransitionTime"].ToString();
  }
  std::string HealthIn(const std::string& cluster) {
    const auto object = plane.Get("host", kBinding, binding);
    if (!object) return "";
    for (const json::Value& item : object->Get({"status", "aggregatedStatus"}).items()) {
      if (item["clusterName"].AsString() == cluster) return item["health"].ToString();
    }
    return "";
  }
  bool ReportsEviction() {
    return absl::StrContains(plane.EventsOn(kind, "one"),
                             absl::StrCat("Normal EvictWorkloadFromClusterSucceed: Evict from "
                                          "cluster ",
                                          from, " succeed."));
  }
  void Restart() {
    plane.StopDaemon();
    plane.StartDaemon();
    plane.AwaitDaemon(ns);
  }
  void TolerateUnhealthy(int seconds) {
    plane.Patch("host", kPolicy, {ns, "robots"},
                absl::StrCat(R"({"spec":{"failover":{"application":{"decisionConditions":)",
                             R"({"tolerationSeconds":)", seconds, "}}}}}"));
  }
};

// Has the control plane accept in bindings only the purge modes that Karmada v1.19 does.
void RefuseOldPurgeModes(ControlPlane& plane) {
  const kube::Resource definitions{{"apiextensions.k8s.io", "v1", "CustomResourceDefinition"},
                                   "customresourcedefinitions",
                                   /*namespaced=*/false};
  const kube::ObjectKey key{"", "resourcebindings.work.karmada.io"};
  const auto definition = plane.client("host").Get(definitions, key, {});
  REQUIRE(definition.ok());
  const json::Value modes = json::Value::Array({"Directly", "Gracefully", "Never"});
  json::Value versions = definition->spec()["versions"];
  for (size_t i = 0; i < versions.size(); ++i) {
    if (versions.At(i)["name"].AsString() != "v1alpha2") continue;
    json::Value& spec = versions.MutableAt(i).Mutable(
        {"schema", "openAPIV3Schema", "properties", "spec", "properties"});
    spec.Set({"gracefulEvictionTasks", "items", "properties", "purgeMode", "enum"}, modes);
    spec.Set({"failover", "properties", "application", "properties", "purgeMode", "enum"}, modes);
  }
  json::Value patch = json::Value::Object();
  patch.Set({"spec", "versions"}, std::move(versions));
  REQUIRE(
      plane.client("host").Patch(definitions, key, kube::PatchType::kMerge, patch, {}, {}).ok());
}

}  // namespace

TEST_CASE(
    "A workload that stays unhealthy is moved, and stays with what it needs until it is healthy "
    "elsewhere",
    "[pull]") {
  Moving m(R"({decisionConditions: {tolerationSeconds: 600}, purgeMode: Gracefully})");
  ControlPlane& plane = m.plane;
  m.Report(m.from, false);
  REQUIRE(plane.Eventually([&] { return !m.UnhealthySince().empty(); }));
  const std::string since = m.UnhealthySince();
  m.Restart();  // The time goes on.
  CHECK(plane.Always([&] { return m.UnhealthySince() == since && m.Tasks().empty(); }));
  m.TolerateUnhealthy(1);
  REQUIRE(plane.Eventually([&] { return m.IsIn(m.to); }));
  REQUIRE(m.Tasks().size() == 1);
  CHECK(m.Tasks().At(0)["fromCluster"].AsString() == m.from);
  CHECK(m.Tasks().At(0)["reason"].AsString() == "ApplicationFailure");
  CHECK(m.Tasks().At(0)["gracePeriodSeconds"].AsInt() == 600);

  REQUIRE(plane.Eventually([&] { return m.Tasks().At(0).Has("creationTimestamp"); }));
  REQUIRE(plane.Eventually([&] { return m.HasSettings(m.to); }));
  m.Restart();
  CHECK(plane.Always([&] { return m.IsIn(m.from) && m.IsIn(m.to) && m.Tasks().size() == 1; }));
  CHECK(m.HasSettings(m.from));
  m.Report(m.to, true);
  CHECK(plane.Eventually([&] { return !m.HasSettings(m.from); }));
  CHECK(!m.IsIn(m.from));  // What it needs goes last.
  CHECK(m.Tasks().empty());
  CHECK(m.IsIn(m.to));
  CHECK(m.HasSettings(m.to));
  CHECK(plane.Eventually([&] { return m.ReportsEviction(); }));
}

TEST_CASE("A policy with an older name of a purge mode moves workloads where servers refuse it",
          "[sandbox]") {
  // The policy has been stored by a server of v1.18; those of v1.19 refuse it as well.
  Moving m(R"({decisionConditions: {tolerationSeconds: 600}, purgeMode: Graciously,
               gracePeriodSeconds: 500})",
           {.release = config::Release::kV1_18});
  ControlPlane& plane = m.plane;
  RefuseOldPurgeModes(plane);
  const kube::Resource bindings{kBinding, "resourcebindings", /*namespaced=*/true};
  const auto patch = json::Parse(
      R"({"spec":{"gracefulEvictionTasks":[{"fromCluster":"x","purgeMode":"Graciously"}]}})");
  const absl::Status refused =
      plane.client("host")
          .Patch(bindings, m.binding, kube::PatchType::kMerge, *patch, {}, {})
          .status();
  REQUIRE(absl::IsInvalidArgument(refused));
  m.Report(m.from, false);
  m.TolerateUnhealthy(1);
  REQUIRE(plane.Eventually([&] { return m.IsIn(m.to); }));
  REQUIRE(m.Tasks().size() == 1);
  CHECK(m.Tasks().At(0)["purgeMode"].AsString() == "Gracefully");
  CHECK(m.Tasks().At(0)["gracePeriodSeconds"].AsInt() == 500);
  // The policy keeps what its user has written.
  CHECK(plane.Get("host", kPolicy, {m.ns, "robots"})
            ->Get({"spec", "failover", "application", "purgeMode"})
            .AsString() == "Graciously");
}

TEST_CASE("A workload whose health is unknown now and then is moved in time, over a restart, too") {
  Moving m(R"({decisionConditions: {tolerationSeconds: 600}, purgeMode: Gracefully})");
  ControlPlane& plane = m.plane;
  m.Report(m.from, false);
  REQUIRE(plane.Eventually([&] { return !m.UnhealthySince().empty(); }));
  const std::string since = m.UnhealthySince();
  plane.Patch(m.from, m.kind, m.robot, R"({"status":{"ok":"no boolean"}})", "status");
  REQUIRE(plane.Eventually([&] { return m.HealthIn(m.from) == "Unknown"; }));
  m.Restart();
  m.TolerateUnhealthy(1);  // It is over, but nothing is evicted meanwhile.
  CHECK(plane.Always([&] { return m.UnhealthySince() == since && m.Tasks().empty(); }));
  m.Report(m.from, false);
  CHECK(plane.Eventually([&] { return m.IsIn(m.to); }));
}

TEST_CASE("A workload that is purged directly goes before it comes again, with its state",
          "[pull]") {
  Moving m(
      R"({decisionConditions: {tolerationSeconds: 0}, purgeMode: Directly, statePreservation:
              {rules: [{aliasLabelName: example.io/step, jsonPath: "{.step}"}]}})",
      {.daemon_flags = {"--feature-gates=StatefulFailoverInjection=true"}});
  ControlPlane& plane = m.plane;
  const kube::ObjectKey work = {api::ExecutionNamespace(m.from),
                                api::WorkName("Robot", "one", m.ns)};
  plane.Patch("host", kWork, work,
              absl::Substitute(R"({"metadata":{"finalizers":["$0","example.io/wait"]}})",
                               api::kExecutionFinalizer));
  m.Report(m.from, false);
  REQUIRE(plane.Eventually([&] { return !m.IsIn(m.from); }));
  CHECK(plane.Always([&] { return !m.IsIn(m.to); }));  // The Work is still there.
  m.Restart();
  CHECK(plane.Always([&] { return !m.IsIn(m.to); }));
  plane.Patch("host", kWork, work, R"({"metadata":{"finalizers":null}})");
  REQUIRE(plane.Eventually([&] { return m.IsIn(m.to); }));
  CHECK(plane.Get(m.to, m.kind, m.robot)->Label("example.io/step") == "7");
  CHECK(m.Tasks().At(0)["clustersBeforeFailover"].At(0).AsString() == m.from);
}

TEST_CASE(
    "A workload that fails again before it was healthy keeps the state of the last good run") {
  Moving m(
      R"({decisionConditions: {tolerationSeconds: 0}, purgeMode: Directly, statePreservation:
              {rules: [{aliasLabelName: example.io/step, jsonPath: "{.step}"}]}})",
      EvictingWith("1s", ",StatefulFailoverInjection=true"));
  ControlPlane& plane = m.plane;
  const auto label_in = [&](const std::string& cluster) {
    const auto object = plane.Get(cluster, m.kind, m.robot);
    return object ? std::string(object->Label("example.io/step")) : "";
  };
  m.Report(m.from, false, 7);
  REQUIRE(plane.Eventually([&] { return label_in(m.to) == "7" && m.Tasks().empty(); }));
  CHECK(plane.Always([&] { return label_in(m.to) == "7"; }));  // The task has timed out.
  m.Restart();
  m.Report(m.to, false, 8);
  REQUIRE(plane.Eventually([&] { return m.IsIn(m.from); }));
  CHECK(label_in(m.from) == "7");

  m.Report(m.from, true, 9);
  CHECK(plane.Eventually([&] { return m.IsIn(m.from) && label_in(m.from).empty(); }));
  m.Report(m.from, false, 9);
  CHECK(plane.Eventually([&] { return label_in(m.to) == "9"; }));
}

TEST_CASE("A workload that must never be purged stays until somebody says so") {
  Moving m(R"({decisionConditions: {tolerationSeconds: 0}, purgeMode: Never})");
  ControlPlane& plane = m.plane;
  m.Report(m.from, false);
  REQUIRE(plane.Eventually([&] { return m.IsIn(m.to); }));
  m.Report(m.to, true);
  REQUIRE(plane.Eventually([&] { return m.HealthIn(m.to) == "Healthy"; }));
  CHECK(plane.Always([&] { return m.IsIn(m.from) && m.IsIn(m.to); }));
  json::Value task = m.Tasks().At(0);
  REQUIRE(task["suppressDeletion"].AsBool());
  task.Set("suppressDeletion", false);
  plane.Patch("host", kBinding, m.binding,
              absl::StrCat(R"({"spec":{"gracefulEvictionTasks":[)", json::Write(task), "]}}"));
  CHECK(plane.Eventually([&] { return !m.IsIn(m.from); }));
  CHECK(m.IsIn(m.to));
}

TEST_CASE("A workload leaves its cluster after the grace period, healthy elsewhere or not",
          "[pull]") {
  Moving m(R"({decisionConditions: {tolerationSeconds: 0}, purgeMode: Gracefully,
               gracePeriodSeconds: 1})");
  m.Report(m.from, false);
  CHECK(m.plane.Eventually([&] { return m.IsIn(m.to) && !m.IsIn(m.from); }));
  CHECK(m.Tasks().empty());
  CHECK(m.plane.Eventually([&] { return m.ReportsEviction(); }));
}

TEST_CASE(
    "A workload leaves a tainted cluster once it is healthy elsewhere, also after a restart") {
  Moving m("", EvictingWith("10m"));
  ControlPlane& plane = m.plane;
  m.TaintCluster();
  REQUIRE(plane.Eventually([&] { return m.IsIn(m.to); }));
  REQUIRE(plane.Eventually([&] { return m.Tasks().At(0).Has("creationTimestamp"); }));
  CHECK(m.Tasks().At(0)["reason"].AsString() == "TaintUntolerated");
  CHECK(m.Tasks().At(0)["purgeMode"].AsString() == "Gracefully");
  m.Restart();
  CHECK(plane.Always([&] { return m.IsIn(m.from) && m.IsIn(m.to) && m.Tasks().size() == 1; }));
  m.Report(m.to, true);
  CHECK(plane.Eventually([&] { return !m.IsIn(m.from); }));
  CHECK(m.Tasks().empty());
  CHECK(m.IsIn(m.to));
  CHECK(plane.Eventually([&] { return m.ReportsEviction(); }));
}

TEST_CASE("A workload leaves a tainted cluster after the timeout, healthy elsewhere or not") {
  Moving m("", EvictingWith("1s"));
  m.TaintCluster();
  CHECK(m.plane.Eventually([&] { return m.IsIn(m.to) && !m.IsIn(m.from); }));
  CHECK(m.plane.Eventually([&] { return m.Tasks().empty(); }));
  CHECK(m.plane.Eventually([&] { return m.ReportsEviction(); }));
}

}  // namespace tests
