// Templates of other kinds and scopes, selectors, and objects that are not Karmada's.
#include <string>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "api/names.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"

namespace tests {

TEST_CASE("A cluster-scoped template follows its cluster policy", "[pull]") {
  ControlPlane plane;
  const std::string name = plane.UniqueNamespace("role");
  const std::string yaml = In(name, R"(
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: $NS}
rules:
- {apiGroups: [""], resources: [pods], verbs: [get]}
---
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: $NS}
spec:
  resourceSelectors:
  - {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, name: $NS}
  placement:
    clusterAffinity: {clusterNames: [member1, member2]}
)");
  plane.Apply("host", yaml);
  REQUIRE(plane.Eventually([&] {
    return plane.Exists("member1", kClusterRole, {"", name}) &&
           plane.Exists("member2", kClusterRole, {"", name});
  }));
  CHECK(plane.Eventually([&] {
    const auto binding = plane.Get("host", kClusterBinding, {"", name + "-clusterrole"});
    return binding && kube::IsConditionTrue(binding->Get({"status", "conditions"}), "FullyApplied");
  }));
  plane.Delete("host", kClusterRole, {"", name});
  CHECK(plane.Eventually([&] {
    return !plane.Exists("member1", kClusterRole, {"", name}) &&
           !plane.Exists("host", kClusterBinding, {"", name + "-clusterrole"});
  }));
  plane.Delete("host", kClusterPolicy, {"", name});
  CHECK(plane.Eventually([&] { return !plane.Exists("host", kClusterPolicy, {"", name}); }));
}

TEST_CASE("Namespaces exist in every member, reserved and excluded ones do not") {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("everywhere");
  const std::string skipped = plane.UniqueNamespace("skipped");
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.Apply("host", In(skipped, R"(
apiVersion: v1
kind: Namespace
metadata: {name: $NS, labels: {namespace.karmada.io/skip-auto-propagation: "true"}}
)"));
  CHECK(plane.Eventually([&] {
    return plane.Exists("member1", kNamespace, {"", ns}) &&
           plane.Exists("member2", kNamespace, {"", ns});
  }));
  CHECK(plane.Always([&] { return !plane.Exists("member1", kNamespace, {"", skipped}); }));
  CHECK_FALSE(plane.Exists("member1", kNamespace, {"", "karmada-es-member1"}));
}

TEST_CASE("A custom resource follows its definition into the members", "[pull]") {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("custom");
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.Apply("host", In(ns, Definition("Foo", "foos")));
  plane.Apply("host", In(ns, R"(
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: $NS}
spec:
  resourceSelectors:
  - {apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, name: foos.$NS.example.io}
  - {apiVersion: $NS.example.io/v1, kind: Foo, namespace: $NS}
  placement: {clusterAffinity: {clusterNames: [member1]}}
)"));
  plane.Apply("host", In(ns, R"(
apiVersion: $NS.example.io/v1
kind: Foo
metadata: {name: one, namespace: $NS}
spec: {size: 3, nested: {list: [1, 2, 3]}}
)"));
  const kube::Gvk foo = DefinedKind(ns, "Foo");
  CHECK(plane.Eventually(
      [&] {
        const auto one = plane.Get("member1", foo, {ns, "one"});
        return one && one->Get({"spec", "nested", "list"}).size() == 3;
      },
      absl::Seconds(90)));
  CHECK_FALSE(plane.Exists("member2", foo, {ns, "one"}));
}

TEST_CASE("Policies select by label, and a name beats a label") {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("select");
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.Apply("host", In(ns, R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: a-by-label, namespace: $NS}
spec:
  resourceSelectors:
  - {apiVersion: v1, kind: ConfigMap, labelSelector: {matchLabels: {team: blue}}}
  placement: {clusterAffinity: {clusterNames: [member1]}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: b-by-name, namespace: $NS}
spec:
  resourceSelectors:
  - {apiVersion: v1, kind: ConfigMap, name: special}
  - {apiVersion: v1, kind: ConfigMap, name: known}
  placement: {clusterAffinity: {clusterNames: [member2]}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: plain, namespace: $NS, labels: {team: blue}}
data: {k: v}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: known, namespace: $NS}
data: {k: v}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: other, namespace: $NS, labels: {team: red}}
data: {k: v}
)"));
  // A template keeps the first policy that claims it. What both may claim therefore comes when
  // both are known to work.
  REQUIRE(plane.Eventually([&] {
    return plane.Exists("member1", kConfigMap, {ns, "plain"}) &&
           plane.Exists("member2", kConfigMap, {ns, "known"});
  }));
  plane.Apply("host", In(ns, R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: special, namespace: $NS, labels: {team: blue}}
data: {k: v}
)"));
  CHECK(plane.Eventually([&] { return plane.Exists("member2", kConfigMap, {ns, "special"}); }));
  CHECK_FALSE(plane.Exists("member1", kConfigMap, {ns, "special"}));
  CHECK(plane.Always([&] { return !plane.Exists("host", kBinding, {ns, "other-configmap"}); }));
}

TEST_CASE("An object that is not Karmada's is left alone unless the template says overwrite",
          "[pull]") {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("foreign");
  plane.Apply("host", In(ns, kNamespaceYaml));
  REQUIRE(plane.Eventually([&] { return plane.Exists("member1", kNamespace, {"", ns}); }));
  plane.Apply("member1", In(ns, R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: mine, namespace: $NS}
data: {owner: member}
)"));
  plane.Apply("host", In(ns, R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: mine, namespace: $NS}
data: {owner: template}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: p, namespace: $NS}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, name: mine}]
  placement: {clusterAffinity: {clusterNames: [member1]}}
)"));
  CHECK(plane.Eventually([&] {
    const auto binding = plane.Get("host", kBinding, {ns, "mine-configmap"});
    if (!binding) return false;
    const json::Value& item = binding->Get({"status", "aggregatedStatus"}).At(0);
    return absl::StrContains(item["appliedMessage"].AsString(),
                             "already exists in the cluster member1");
  }));
  CHECK(plane.Get("member1", kConfigMap, {ns, "mine"})->Get({"data", "owner"}).AsString() ==
        "member");
  plane.Patch(
      "host", kConfigMap, {ns, "mine"},
      R"({"metadata":{"annotations":{"work.karmada.io/conflict-resolution":"overwrite"}}})");
  CHECK(plane.Eventually([&] {
    return plane.Get("member1", kConfigMap, {ns, "mine"})->Get({"data", "owner"}).AsString() ==
           "template";
  }));
}

// Two loops report on a Work's objects: one applies them, the other watches them in the member. The
// second must not take an object that was never applied for a deleted one.
TEST_CASE("A changed rule of a kind leaves the report on an object that was never applied alone",
          "[pull]") {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("unapplied");
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.ApplyEverywhere(In(ns, Definition("Robot", "robots")));
  REQUIRE(plane.Eventually([&] { return plane.Exists("member1", kNamespace, {"", ns}); }));
  plane.Apply("member1", In(ns, R"(
apiVersion: $NS.example.io/v1
kind: Robot
metadata: {name: theirs, namespace: $NS}
)"));
  plane.Apply("host", In(ns, R"(
apiVersion: $NS.example.io/v1
kind: Robot
metadata: {name: theirs, namespace: $NS}
---
apiVersion: $NS.example.io/v1
kind: Robot
metadata: {name: ours, namespace: $NS}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: p, namespace: $NS}
spec:
  resourceSelectors: [{apiVersion: $NS.example.io/v1, kind: Robot}]
  placement: {clusterAffinity: {clusterNames: [member1]}}
)"));
  const auto health = [&] {
    const auto binding = plane.Get("host", kBinding, {ns, "ours-robot"});
    return binding ? binding->Get({"status", "aggregatedStatus"}).At(0)["health"].ToString() : "";
  };
  const auto reason = [&] {
    const auto work =
        plane.Get("host", kWork, {"karmada-es-member1", api::WorkName("Robot", "theirs", ns)});
    const json::Value* applied =
        work ? kube::FindCondition(work->Get({"status", "conditions"}), "Applied") : nullptr;
    return applied == nullptr ? "" : (*applied)["reason"].ToString();
  };
  REQUIRE(plane.Eventually([&] { return health() == "Healthy" && reason() == "AppliedFailed"; }));
  plane.Apply("host", In(ns, Customization("Robot", R"(
    healthInterpretation:
      luaScript: |
        function InterpretHealth(obj) return false end
)")));
  CHECK(plane.Eventually([&] { return health() == "Unhealthy"; }));
  CHECK(plane.Always([&] { return reason() == "AppliedFailed"; }));
  // Delete the failing object, because other tests use the same plane.
  plane.Delete("host", DefinedKind(ns, "Robot"), {ns, "theirs"});
  CHECK(plane.Eventually([&] { return reason().empty(); }));
}

TEST_CASE("A kind without status subresource has its status brought back, and is not edited by it",
          "[pull]") {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("plain");
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.ApplyEverywhere(In(ns, Definition("Release", "releases", StatusPlace::kOnObject)));
  plane.Apply("host", In(ns, Customization("Release", R"(
    statusAggregation:
      luaScript: |
        function AggregateStatus(obj, items)
          obj.status = { ready = 0, seen = obj.metadata.generation }
          for _, item in ipairs(items or {}) do
            obj.status.ready = obj.status.ready + ((item.status or {}).ready or 0)
          end
          return obj
        end
)")));
  plane.Apply("host", In(ns, R"(
apiVersion: $NS.example.io/v1
kind: Release
metadata: {name: one, namespace: $NS}
spec: {size: 1}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: releases, namespace: $NS}
spec:
  resourceSelectors: [{apiVersion: $NS.example.io/v1, kind: Release}]
  placement: {clusterAffinity: {clusterNames: [member1, member2]}}
)"));
  const kube::Gvk gvk = DefinedKind(ns, "Release");
  const kube::ObjectKey key{ns, "one"};
  REQUIRE(plane.Eventually(
      [&] { return plane.Exists("member1", gvk, key) && plane.Exists("member2", gvk, key); }));
  const auto version_in_binding = [&] {
    return plane.Get("host", kBinding, {ns, "one-release"})
        ->Get({"spec", "resource", "resourceVersion"})
        .ToString();
  };
  const auto ready = [&] {
    return plane.Get("host", gvk, key)->Get({"status", "ready"}).AsInt(-1);
  };
  const std::string before = version_in_binding();
  plane.Patch("member1", gvk, key, R"({"status":{"ready":2}})");
  CHECK(plane.Eventually([&] { return ready() == 2; }));
  plane.Patch("member2", gvk, key, R"({"status":{"ready":3}})");
  CHECK(plane.Eventually([&] { return ready() == 5; }));
  CHECK(version_in_binding() == before);
  CHECK(plane.Get("member1", gvk, key)->Get({"status", "ready"}).AsInt() == 2);
  // Our own writes change the generation, and the script copies it into the status. If each of them
  // counted as an edit, the writes would never end.
  CHECK(plane.Settles([&] { return std::string(plane.Get("host", gvk, key)->resource_version()); },
                      absl::Seconds(3)));

  plane.Patch("host", gvk, key, R"({"spec":{"size":2}})");
  CHECK(plane.Eventually([&] {
    return plane.Get("member2", gvk, key)->Get({"spec", "size"}).AsInt() == 2 && ready() == 5;
  }));
  CHECK(version_in_binding() != before);
  plane.Delete("host", gvk, key);
  CHECK(plane.Eventually([&] { return !plane.Exists("member1", gvk, key); }));
  plane.Delete("host", kCustomization, {"", ns});
}

TEST_CASE("A kind with several versions is propagated in the preferred one, whichever is edited",
          "[pull]") {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("versions");
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.ApplyEverywhere(In(ns, R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: robots.$NS.example.io}
spec:
  group: $NS.example.io
  names: {kind: Robot, listKind: RobotList, plural: robots, singular: robot}
  scope: Namespaced
  versions:
  - name: v1beta1
    served: true
    storage: true
    schema: &schema {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
  - {name: v1, served: true, storage: false, schema: *schema}
)"));
  const kube::Gvk robot = DefinedKind(ns, "Robot"), beta{robot.group, "v1beta1", "Robot"};
  const kube::ObjectKey one{ns, "one"};
  const auto policy = [&](const std::string& version) {
    plane.Apply("host", In(ns, absl::StrCat(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: p-$NS, namespace: $NS}
spec:
  resourceSelectors: [{kind: Robot, apiVersion: $NS.example.io/)",
                                            version, R"(}]
  placement: {clusterAffinity: {clusterNames: [member1]}}
)")));
  };
  const auto arms = [&] {
    const auto there = plane.Get("member1", robot, one);
    return there ? there->spec()["arms"].AsInt() : 0;
  };
  plane.Apply("host", In(ns, kRobotYaml));
  policy("v1");
  REQUIRE(plane.Eventually([&] { return arms() == 2; }));
  const auto work =
      plane.Get("host", kWork, {"karmada-es-member1", api::WorkName("Robot", "one", ns)});
  REQUIRE(work);
  CHECK(work->Get({"spec", "workload", "manifests"}).At(0)["apiVersion"] ==
        In(ns, "$NS.example.io/v1"));

  plane.Patch("host", beta, one, R"({"spec":{"arms":3}})");
  CHECK(plane.Eventually([&] { return arms() == 3; }));
  plane.Patch("member1", beta, one, R"({"spec":{"arms":9}})");
  CHECK(plane.Eventually([&] { return arms() == 3; }));

  // As upstream, no other version is propagated, which the policy reports.
  policy("v1beta1");
  CHECK(plane.Eventually([&] {
    return absl::StrContains(
        plane.EventsOn(kPolicy, absl::StrCat("p-", ns)),
        In(ns,
           "v1beta1 Robot, but objects are propagated in the version that the control plane "
           "prefers; did you mean $NS.example.io/v1 Robot?"));
  }));
  policy("v1");
  plane.Delete("host", beta, one);
  CHECK(plane.Eventually([&] { return !plane.Exists("member1", robot, one); }));
}

}  // namespace tests
