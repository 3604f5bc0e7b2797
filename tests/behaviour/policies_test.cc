// What the fields of policies do to bindings, and which policy has a template.
#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/keys.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

using absl::StrContains;

// Returns a policy for the settings of the namespace. `more` are lines of its spec.
std::string PolicyNamed(const std::string& name, const std::string& more) {
  return absl::StrCat(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: )",
                      name, R"(, namespace: $NS}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, name: settings}]
  placement:
    clusterAffinity: {clusterNames: [member1]}
)",
                      more);
}

// What the robots of a test consist of, as a rule of a customization.
constexpr char kRobotComponents[] = R"(
    componentResource:
      luaScript: |
        function GetComponents(obj)
          local kube = require("kube")
          return {
            {name = "body", replicas = 1},
            {name = "arm", replicas = obj.spec.arms,
             replicaRequirements = kube.accuratePodRequirements(obj.spec.arm)},
          }
        end
)";

constexpr char kArmedRobot[] = R"(
apiVersion: $NS.example.io/v1
kind: Robot
metadata: {name: one, namespace: $NS}
spec: {arms: 2, arm: {spec: {containers: [{name: c, resources: {requests: {cpu: 100m}}}]}}}
)";

constexpr char kRobotsAndWeb[] = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: all, namespace: $NS}
spec:
  resourceSelectors:
  - {apiVersion: $NS.example.io/v1, kind: Robot}
  - {apiVersion: apps/v1, kind: Deployment, name: web}
  placement: {clusterAffinity: {clusterNames: [member1]}}
)";

std::string SettingsEvents(ControlPlane& plane) { return plane.EventsOn(kConfigMap, "settings"); }

}  // namespace

TEST_CASE("A binding asks the scheduler for the priority that its policy names") {
  const std::string flag =
      GENERATE("--feature-gates=PriorityBasedScheduling=true", "--emulated-karmada-version=v1.19");
  ControlPlane plane({.daemon_flags = {flag}});
  const std::string ns = plane.UniqueNamespace("priority");
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.Apply("host", In(ns, Settings("one")));
  plane.Apply("host", In(ns, PolicyNamed("p", R"(
  schedulePriority: {priorityClassSource: KubePriorityClass, priorityClassName: $NS}
)")));
  CHECK(plane.Eventually([&] {
    return StrContains(
        SettingsEvents(plane),
        absl::StrCat("Warning ApplyPolicyFailed: Apply policy(", ns,
                     R"(/p) failed: priorityclasses.scheduling.k8s.io ")", ns, "\" not found"));
  }));
  plane.Apply("host", In(ns, R"(
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: $NS}
value: 42
)"));
  CHECK(plane.Eventually([&] {
    const auto binding = plane.Get("host", kBinding, {ns, "settings-configmap"});
    return binding && binding->spec()["schedulePriority"]["priority"].AsInt() == 42;
  }));
}

TEST_CASE("As Karmada v1.18 a binding has no priority unless the gate is on") {
  ControlPlane plane({.daemon_flags = {"--emulated-karmada-version=v1.18"}});
  const std::string ns = plane.UniqueNamespace("priority");
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.Apply("host", In(ns, Settings("one")));
  plane.Apply("host", In(ns, PolicyNamed("p", R"(
  schedulePriority: {priorityClassSource: KubePriorityClass, priorityClassName: $NS}
)")));
  CHECK(plane.Eventually([&] {
    return plane.Exists("host", kBinding, {ns, "settings-configmap"});
  }));
  CHECK_FALSE(
      plane.Get("host", kBinding, {ns, "settings-configmap"})->spec().Has("schedulePriority"));
}

TEST_CASE("A binding asks the scheduler for the groups that its policy names") {
  ControlPlane plane({.daemon_flags = {"--feature-gates=WorkloadAffinity=true"}});
  const std::string ns = plane.UniqueNamespace("groups");
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.Apply("host", In(ns, Settings("one")));
  plane.Patch("host", kConfigMap, {ns, "settings"}, R"({"metadata":{"labels":{"app":"shop"}}})");
  plane.Apply("host", In(ns, PolicyNamed("p", R"(
    workloadAffinity: {affinity: {groupByLabelKey: app}}
)")));
  // The template's label may be seen after the policy.
  CHECK(plane.Eventually([&] {
    const auto binding = plane.Get("host", kBinding, {ns, "settings-configmap"});
    return binding &&
           binding->spec()["workloadAffinityGroups"]["affinityGroup"].AsString() == "app=shop";
  }));
}

TEST_CASE("A binding lists the components of its template, and what estimates of quotas need") {
  ControlPlane plane({.daemon_flags = {"--feature-gates=MultiplePodTemplatesScheduling=true,"
                                       "ResourceQuotaEstimate=true"}});
  const std::string ns = plane.UniqueNamespace("components");
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.ApplyEverywhere(In(ns, Definition("Robot", "robots")));
  plane.Apply("host", In(ns, Customization("Robot", kRobotComponents)));
  plane.Apply("host", In(ns, kArmedRobot));
  plane.Apply("host", In(ns, Deployment("web", 2, R"({priorityClassName: system-node-critical,
      containers: [{name: main, image: "nginx:1.25", resources: {requests: {cpu: 10m}}}]})")));
  plane.Apply("host", In(ns, kRobotsAndWeb));

  CHECK(plane.Eventually([&] {
    const auto binding = plane.Get("host", kBinding, {ns, "one-robot"});
    if (!binding || binding->spec()["components"].size() != 2) return false;
    const json::Value& arm = binding->spec()["components"].At(1);
    return binding->spec()["components"].At(0)["name"] == "body" && arm["name"] == "arm" &&
           arm["replicas"].AsInt() == 2 &&
           arm.Get({"replicaRequirements", "resourceRequest", "cpu"}) == "100m";
  }));
  CHECK(plane.Eventually([&] {
    return plane.Exists("member1", DefinedKind(ns, "Robot"), {ns, "one"});
  }));
  // There is no such rule for Deployments.
  REQUIRE(plane.Eventually([&] { return plane.Exists("member1", kDeployment, {ns, "web"}); }));
  const auto web = plane.Get("host", kBinding, {ns, "web-deployment"});
  CHECK_FALSE(web->spec().Has("components"));
  CHECK(web->spec()["replicas"].AsInt() == 2);
  const json::Value& requirements = web->spec()["replicaRequirements"];
  CHECK(requirements["namespace"].AsString() == ns);
  CHECK(requirements["priorityClassName"].AsString() == "system-node-critical");
  plane.Delete("host", kCustomization, {"", ns});
}

TEST_CASE("Kinds and namespaces that flags exclude are not propagated, and their policies say so") {
  ControlPlane plane({.daemon_flags = {"--skipped-propagating-apis=apps/v1/Deployment",
                                       "--skipped-propagating-namespaces=kube-.*,skipped-.*"}});
  const std::string ns = plane.UniqueNamespace("taken"), skipped = plane.UniqueNamespace("skipped");
  for (const std::string& in : {ns, skipped}) {
    plane.Apply("host", In(in, kNamespaceYaml));
    plane.Apply("host", In(in, Settings("v")));
  }
  plane.Apply("host", In(ns, PolicyNamed("settings-of-taken", "")));
  REQUIRE(plane.Eventually([&] { return SettingIn(plane, "member1", ns) == "v"; }));

  plane.Apply("host", In(skipped, PolicyNamed("settings-of-skipped", "")));
  plane.Apply("host", In(ns, WebDeployment()));
  plane.Apply("host", In(ns, DividedPolicy(kWebSelector, 1, 1)));
  CHECK(plane.Eventually([&] {
    return StrContains(plane.EventsOn(kPolicy, "settings-of-skipped"),
                       absl::StrCat("Warning ResourceNotPropagated: objects of the namespace ",
                                    skipped, " are never propagated")) &&
           StrContains(plane.EventsOn(kPolicy, "divided"),
                       "Warning ResourceNotPropagated: spec.resourceSelectors names apps/v1 "
                       "Deployment, which --skipped-propagating-apis excludes");
  }));
  CHECK(plane.Always([&] {
    return !plane.Exists("host", kBinding, {skipped, "settings-configmap"}) &&
           !plane.Exists("host", kBinding, {ns, "web-deployment"});
  }));
  CHECK_FALSE(plane.Exists("member1", kNamespace, {"", skipped}));
}

// The claim of the better policy moves with its priority, while the template is not touched.
TEST_CASE(
    "A policy that preempts takes a template over, and loses it when its priority is lowered") {
  ControlPlane plane({.daemon_flags = {"--feature-gates=PropagationPolicyPreemption=true"}});
  const std::string ns = plane.UniqueNamespace("preempt");
  const auto holder = [&] {
    const auto binding = plane.Get("host", kBinding, {ns, "settings-configmap"});
    return binding ? std::string(binding->Annotation(api::kPropagationPolicyNameAnnotation)) : "";
  };
  const auto set_priority = [&](const char* policy, int priority) {
    plane.Patch("host", kPolicy, {ns, policy},
                absl::StrCat(R"({"spec":{"priority":)", priority, "}}"));
  };
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.Apply("host", In(ns, Settings("one")));
  plane.Apply("host", In(ns, PolicyNamed("a", "  priority: 1\n  preemption: Always\n")));
  REQUIRE(plane.Eventually([&] { return holder() == "a"; }));

  plane.Apply("host", In(ns, PolicyNamed("b", "  priority: 5\n  preemption: Always\n")));
  REQUIRE(plane.Eventually([&] { return holder() == "b"; }));
  CHECK(plane.Eventually([&] {
    return StrContains(SettingsEvents(plane),
                       In(ns,
                          "Normal PreemptPolicySucceed: Propagation policy($NS/b) preempted "
                          "propagation policy($NS/a) successfully"));
  }));
  set_priority("b", 0);
  CHECK(plane.Eventually([&] { return holder() == "a"; }));
}

}  // namespace tests
