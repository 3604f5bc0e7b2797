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

std::string SettingsEvents(ControlPlane& plane) { return plane.EventsOn(kConfigMap, "settings"); }

}  // namespace

TEST_CASE("A binding asks the scheduler for the priority and the groups that its policy names") {
  ControlPlane plane(
      {.daemon_flags = {"--feature-gates=PriorityBasedScheduling=true,WorkloadAffinity=true"}});
  const std::string ns = plane.UniqueNamespace("hints");
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.Apply("host", In(ns, Settings("one")));
  plane.Patch("host", kConfigMap, {ns, "settings"}, R"({"metadata":{"labels":{"app":"shop"}}})");
  plane.Apply("host", In(ns, PolicyNamed("p", R"(
    workloadAffinity: {affinity: {groupByLabelKey: app}}
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
  REQUIRE(plane.Eventually([&] {
    return plane.Exists("host", kBinding, {ns, "settings-configmap"});
  }));
  const auto binding = plane.Get("host", kBinding, {ns, "settings-configmap"});
  CHECK(binding->spec()["schedulePriority"]["priority"].AsInt() == 42);
  CHECK(binding->spec()["workloadAffinityGroups"]["affinityGroup"].AsString() == "app=shop");
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
