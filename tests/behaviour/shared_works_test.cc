// Works behind which more than one owner stands, and Works that nobody can apply.
#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

constexpr char kNamespacePolicy[] = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: $NS}
spec:
  preserveResourcesOnDeletion: true
  resourceSelectors: [{apiVersion: v1, kind: Namespace, name: $NS}]
  placement: {clusterAffinity: {clusterNames: [member1, member2]}}
)";

// What stands for a ClusterSecretStore and the like.
constexpr char kStore[] = R"(
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: $NS}
rules: []
)";
constexpr char kStorePolicy[] = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: $NS}
spec:
  resourceSelectors: [{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, name: $NS}]
  placement: {clusterAffinity: {clusterNames: [member1]}}
)";
constexpr char kRobotNeedsStore[] = R"(
apiVersion: $STORE.example.io/v1
kind: Robot
metadata: {name: one, namespace: $NS}
spec: {store: $STORE}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: robot, namespace: $NS}
spec:
  propagateDeps: true
  conflictResolution: Overwrite
  resourceSelectors: [{apiVersion: $STORE.example.io/v1, kind: Robot}]
  placement: {clusterAffinity: {clusterNames: [member1, member2]}}
)";

kube::Object WorkOf(ControlPlane& plane, const std::string& member, const kube::Gvk& gvk,
                    const std::string& name) {
  const kube::Resource works{kWork, "works", /*namespaced=*/true};
  const auto page =
      plane.client("host").ListAll(works, absl::StrCat("karmada-es-", member), {}, {});
  REQUIRE(page.ok());
  for (const kube::Object& work : page->items) {
    const kube::Object manifest(work.Get({"spec", "workload", "manifests"}).At(0));
    if (manifest.gvk() == gvk && manifest.name() == name) return work;
  }
  return kube::Object();
}

std::string UidIn(ControlPlane& plane, const std::string& cluster, const kube::Gvk& gvk,
                  const kube::ObjectKey& key) {
  const auto object = plane.Get(cluster, gvk, key);
  return object ? std::string(object->uid()) : "";
}

}  // namespace

TEST_CASE(
    "A ClusterPropagationPolicy that lets go of a Namespace leaves it to the namespace loop") {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("synced");
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.Apply("host", In(ns, kNamespacePolicy));
  const auto preserves = [&] {
    return WorkOf(plane, "member2", kNamespace, ns).spec()["preserveResourcesOnDeletion"].AsBool();
  };
  REQUIRE(plane.Eventually(preserves));
  const std::string uid = UidIn(plane, "member2", kNamespace, {"", ns});
  REQUIRE_FALSE(uid.empty());

  plane.Patch("host", kNamespace, {"", ns}, R"({"metadata": {"labels": {"team": "a"}}})");
  REQUIRE(plane.Eventually([&] {
    return plane.Get("member2", kNamespace, {"", ns})->Label("team") == "a";
  }));
  CHECK(preserves());

  plane.Patch("host", kClusterPolicy, {"", ns}, R"({"spec": {"preserveResourcesOnDeletion": false,
      "placement": {"clusterAffinity": {"clusterNames": ["member1"]}}}})");
  constexpr char kNames[] = "clusterresourcebinding.karmada.io/name";
  REQUIRE(plane.Eventually(
      [&] { return WorkOf(plane, "member2", kNamespace, ns).Annotation(kNames).empty(); }));
  plane.AwaitDaemon(ns);
  CHECK_FALSE(preserves());
  CHECK(UidIn(plane, "member2", kNamespace, {"", ns}) == uid);
  // The namespace loop goes on with it.
  plane.Patch("host", kNamespace, {"", ns}, R"({"metadata": {"labels": {"team": "b"}}})");
  CHECK(plane.Eventually([&] {
    return plane.Get("member2", kNamespace, {"", ns})->Label("team") == "b";
  }));
  plane.Delete("host", kClusterPolicy, {"", ns});
}

TEST_CASE("A restart writes no Work of a Namespace that a ClusterPropagationPolicy propagates") {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("written");
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.Apply("host", In(ns, kNamespacePolicy));
  const auto generations = [&] {
    std::string all;
    for (const char* member : {"member1", "member2"}) {
      const kube::Object work = WorkOf(plane, member, kNamespace, ns);
      absl::StrAppend(&all, work.generation(), " ",
                      work.Annotation("clusterresourcebinding.karmada.io/name"), " ");
    }
    return all;
  };
  REQUIRE(plane.Eventually([&] { return absl::StrContains(generations(), ns); }));
  REQUIRE(plane.Settles(generations));
  const std::string before = generations();
  for (int i = 0; i < 2; ++i) {
    plane.StopDaemon();
    plane.StartDaemon();
    plane.AwaitDaemon(ns);
    CHECK(plane.Always([&] { return generations() == before; }));
  }
  plane.Delete("host", kClusterPolicy, {"", ns});
}

TEST_CASE("Members keep a Namespace that its policy has released, until a policy takes it over",
          "[pull]") {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("freed");
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.Apply("host",
              In(ns, absl::StrReplaceAll(kNamespacePolicy, {{"[member1, member2]", "[member1]"}})));
  const auto team = [&](const char* member) {
    const auto found = plane.Get(member, kNamespace, {"", ns});
    return found ? std::string(found->Label("team")) : "-";
  };
  constexpr char kNames[] = "clusterresourcebinding.karmada.io/name";
  REQUIRE(plane.Eventually(
      [&] { return !WorkOf(plane, "member1", kNamespace, ns).Annotation(kNames).empty(); }));
  plane.Delete("host", kClusterPolicy, {"", ns});
  REQUIRE(plane.Eventually(
      [&] { return absl::StrContains(plane.EventsOn(kNamespace, ns), "PolicyReleased"); }));
  plane.Patch("host", kNamespace, {"", ns}, R"({"metadata": {"labels": {"team": "a"}}})");
  // Where no binding brought it, it goes on following.
  REQUIRE(plane.Eventually([&] { return team("member2") == "a"; }));
  CHECK(plane.Always([&] { return team("member1").empty(); }));
  plane.StopDaemon();
  plane.StartDaemon();
  plane.AwaitDaemon(ns);
  CHECK(plane.Always([&] { return team("member1").empty(); }));
  plane.Apply("host", In(ns, kNamespacePolicy));
  CHECK(plane.Eventually([&] { return team("member1") == "a" && team("member2") == "a"; }));
  // Without its binding it is the namespace loop's alone.
  plane.Delete("host", kClusterPolicy, {"", ns});
  plane.Delete("host", kClusterBinding, {"", absl::StrCat(ns, "-namespace")});
  plane.Patch("host", kNamespace, {"", ns}, R"({"metadata": {"labels": {"team": "b"}}})");
  CHECK(plane.Eventually([&] { return team("member1") == "b" && team("member2") == "b"; }));
}

TEST_CASE("A copy of a binding in its own namespace takes nothing over, and takes nothing along") {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("copies");
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.Apply("host", In(ns, Settings("v")));
  plane.Apply("host", In(ns, kSettingsPolicy));
  REQUIRE(plane.Eventually([&] { return SettingIn(plane, "member2", ns) == "v"; }));
  const std::string uid = UidIn(plane, "member2", kConfigMap, {ns, "settings"});

  const auto original = plane.Get("host", kBinding, {ns, "settings-configmap"});
  REQUIRE(original);
  kube::Object copy = kube::Object::Make(kBinding, {ns, "copy"});
  copy.Set({"spec"}, original->spec());
  copy.Set({"metadata", "labels"}, original->labels());
  copy.AddFinalizer("karmada.io/binding-controller");
  REQUIRE(plane.TryApply("host", copy).ok());
  CHECK(plane.Eventually(
      [&] { return absl::StrContains(plane.EventsOn(kBinding, "copy"), "is a copy"); }));
  plane.Delete("host", kBinding, copy.key());
  CHECK(plane.Eventually([&] { return !plane.Exists("host", kBinding, copy.key()); }));
  plane.AwaitDaemon(ns);
  CHECK(UidIn(plane, "member2", kConfigMap, {ns, "settings"}) == uid);
  plane.Patch("host", kConfigMap, {ns, "settings"}, R"({"data": {"k": "w"}})");
  CHECK(plane.Eventually([&] { return SettingIn(plane, "member2", ns) == "w"; }));
}

TEST_CASE("An object without a namespace that a namespaced template needs is the administrator's") {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("stores"), other = plane.UniqueNamespace("stores");
  plane.ApplyEverywhere(In(ns, Definition("Robot", "robots")));
  plane.Apply("host", In(ns, Customization("Robot", R"(    dependencyInterpretation:
      luaScript: |
        function GetDependencies(o)
          local group = "rbac.authorization.k8s.io/v1"
          return {{apiVersion = group, kind = "ClusterRole", name = o.spec.store}}
        end)")));
  plane.Apply("member2", In(ns, kStore));  // The member's own.
  plane.Apply("host", In(ns, kStore));
  plane.Patch("host", kClusterRole, {"", ns}, R"({"metadata": {"labels": {"of": "plane"}}})");
  plane.Apply("host", In(ns, kStorePolicy));
  REQUIRE(plane.Eventually([&] { return plane.Exists("member1", kClusterRole, {"", ns}); }));
  const std::string brought = UidIn(plane, "member1", kClusterRole, {"", ns});
  for (const std::string& user : {ns, other}) {
    plane.Apply("host", In(user, kNamespaceYaml));
    plane.Apply("host", absl::StrReplaceAll(kRobotNeedsStore, {{"$STORE", ns}, {"$NS", user}}));
  }
  for (const std::string& user : {ns, other}) {
    CHECK(plane.Eventually([&] {
      return plane.Exists("member2", DefinedKind(ns, "Robot"), {user, "one"});
    }));
  }
  CHECK(plane.Eventually([&] {
    return absl::StrContains(plane.EventsOn(kBinding, "one-robot"),
                             "Warning SyncScheduleResultToDependenciesFailed:");
  }));
  const auto is_untouched = [&] {
    return plane.Get("member2", kClusterRole, {"", ns})->Label("of").empty() &&
           UidIn(plane, "member1", kClusterRole, {"", ns}) == brought;
  };
  CHECK(is_untouched());
  plane.Delete("host", DefinedKind(ns, "Robot"), {other, "one"});
  CHECK(plane.Eventually([&] {
    return !plane.Exists("member2", DefinedKind(ns, "Robot"), {other, "one"});
  }));
  plane.AwaitDaemon(ns);
  CHECK(is_untouched());
  plane.Delete("host", kClusterPolicy, {"", ns});
  plane.Delete("host", kClusterRole, {"", ns});
  plane.Delete("host", kCustomization, {"", ns});
}

TEST_CASE("A Work whose manifest is at no address goes when it is deleted", "[pull]") {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("nowhere");
  plane.Apply("host", In(ns, R"(
apiVersion: work.karmada.io/v1alpha1
kind: Work
metadata: {name: $NS, namespace: karmada-es-member1, finalizers: [karmada.io/execution-controller]}
spec:
  workload:
    manifests:
      - {apiVersion: v1, kind: ConfigMap, metadata: {name: x}}
      - {apiVersion: v1, kind: ConfigMap, metadata: {name: "a/b", namespace: default}}
)"));
  const kube::ObjectKey key{"karmada-es-member1", ns};
  REQUIRE(plane.Eventually([&] {
    const auto work = plane.Get("host", kWork, key);
    return work && !work->status()["conditions"].empty();
  }));
  plane.Delete("host", kWork, key);
  CHECK(plane.Eventually([&] { return !plane.Exists("host", kWork, key); }));
}

TEST_CASE("Dependencies of a cluster-scoped template do not follow, and an event says so") {
  ControlPlane plane;
  const std::string name = plane.UniqueNamespace("role");
  const std::string rule = R"(
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: $NS}
spec:
  target: {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole}
  customizations:
    dependencyInterpretation:
      luaScript: |
        function GetDependencies(o)
          return {{apiVersion = "v1", kind = "Secret", namespace = "default", name = "s"}}
        end
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: $NS}
rules: []
---
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: $NS}
spec:
  propagateDeps: true
  resourceSelectors: [{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, name: $NS}]
  placement: {clusterAffinity: {clusterNames: [member1]}}
)";
  plane.Apply("host", In(name, rule));
  CHECK(plane.Eventually([&] {
    return absl::StrContains(plane.EventsOn(kClusterRole, name),
                             "Warning DependenciesNotPropagated:");
  }));
  CHECK(plane.Eventually([&] { return plane.Exists("member1", kClusterRole, {"", name}); }));
  plane.Delete("host", kClusterPolicy, {"", name});
  plane.Delete("host", kClusterRole, {"", name});
  plane.Delete("host", kCustomization, {"", name});
}

}  // namespace tests
