// A control plane whose objects upstream has written: this program keeps what it finds, and has
// attached bindings follow what they are attached to.
#include <string>
#include <utility>

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

constexpr char kShopPod[] = R"({
      containers: [{name: main, image: "nginx:1.25"}],
      volumes: [{name: settings, configMap: {name: settings}}]})";

std::string Config(const std::string& name, const std::string& value) {
  return absl::Substitute(R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: $0, namespace: $$NS}
data: {k: $1}
)",
                          name, value);
}

std::string PolicyFor(const std::string& kind, const std::string& name,
                      const std::string& clusters) {
  return absl::Substitute(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: $1, namespace: $$NS}
spec:
  propagateDeps: $3
  resourceSelectors: [{apiVersion: $4, kind: $0, name: $1}]
  placement: {clusterAffinity: {clusterNames: [$2]}}
)",
                          kind, name, clusters, kind == "Deployment" ? "true" : "false",
                          kind == "Deployment" ? "apps/v1" : "v1");
}

// Three templates that this program has propagated: a Deployment "shop" in member1, whose
// dependency "settings" nobody propagates, and the ConfigMaps "tuned" and "moving" in both members.
// The controller manager is stopped.
struct Stopped {
  ControlPlane plane;
  std::string ns = plane.UniqueNamespace("upstream");

  Stopped() {
    Apply(kNamespaceYaml);
    Apply(Deployment("shop", 1, kShopPod));
    Apply(PolicyFor("Deployment", "shop", "member1"));
    Apply(Config("settings", "first"));
    for (const char* name : {"tuned", "moving"}) {
      Apply(Config(name, "first"));
      Apply(PolicyFor("ConfigMap", name, "member1, member2"));
    }
    for (const char* member : {"member1", "member2"}) {
      REQUIRE(Reads(member, "tuned", "first"));
      REQUIRE(Reads(member, "moving", "first"));
    }
    REQUIRE(plane.Eventually([&] { return plane.Exists("member1", kDeployment, {ns, "shop"}); }));
    plane.StopDaemon();
  }

  void Apply(const std::string& yaml) { plane.Apply("host", In(ns, yaml)); }
  std::string ValueIn(const std::string& member, const std::string& name) {
    const auto config = plane.Get(member, kConfigMap, {ns, name});
    return config ? config->Get({"data", "k"}).ToString() : "-";
  }
  bool Reads(const std::string& member, const std::string& name, const std::string& value) {
    return plane.Eventually([&] { return ValueIn(member, name) == value; });
  }
  kube::Object Binding(const std::string& name) {
    const auto binding = plane.Get("host", kBinding, {ns, name});
    REQUIRE(binding);
    return *binding;
  }
  kube::ObjectKey WorkOf(const std::string& member, const std::string& name) {
    return {api::ExecutionNamespace(member), api::WorkName("ConfigMap", name, ns)};
  }

  // Does what upstream's dependencies distributor does.
  void AttachSettings() {
    const kube::Object shop = Binding("shop-deployment");
    plane.Patch("host", kBinding, shop.key(),
                absl::StrCat(R"({"metadata":{"finalizers":[")", api::kBindingFinalizer, R"(",")",
                             api::kDependenciesFinalizer, "\"]}}"));
    const auto settings = plane.Get("host", kConfigMap, {ns, "settings"});
    REQUIRE(settings);
    Apply(absl::Substitute(
        R"(
apiVersion: work.karmada.io/v1alpha2
kind: ResourceBinding
metadata:
  name: settings-configmap
  namespace: $$NS
  finalizers: [$0]
  labels: {$1$2: $3, $4: 6b1c1e9a-0d3a-4a57-9d53-3a1b6f8f2f10}
  ownerReferences:
  - {apiVersion: v1, kind: ConfigMap, name: settings, uid: $5, controller: true,
     blockOwnerDeletion: true}
spec:
  conflictResolution: Abort
  preserveResourcesOnDeletion: false
  requiredBy: [{namespace: $$NS, name: shop-deployment, clusters: [{name: member1, replicas: 1}]}]
  resource: {apiVersion: v1, kind: ConfigMap, namespace: $$NS, name: settings, uid: $5,
             resourceVersion: "$6"}
)",
        api::kBindingFinalizer, api::kDependedByLabelPrefix,
        api::DependedByHash(ns, "shop-deployment"), shop.Label(api::kResourceBindingIdLabel),
        api::kResourceBindingIdLabel, settings->uid(), settings->resource_version()));
  }

  // Makes an override policy and does with it what upstream's binding controller does.
  void OverrideTuned() {
    Apply(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: o, namespace: $NS}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, name: tuned}]
  overrideRules:
  - targetCluster: {clusterNames: [member1]}
    overriders: {plaintext: [{path: /data/k, operator: replace, value: overridden}]}
)");
    const auto work = plane.Get("host", kWork, WorkOf("member1", "tuned"));
    REQUIRE(work);
    json::Value manifest = work->Get({"spec", "workload", "manifests"}).At(0);
    manifest.Set({"data", "k"}, "overridden");
    plane.Patch("host", kWork, work->key(),
                absl::StrCat(R"({"metadata":{"annotations":{")", api::kAppliedOverridesAnnotation,
                             R"(":"[{\"policyName\":\"o\",\"overriders\":{\"plaintext\":[)"
                             R"({\"path\":\"/data/k\",\"operator\":\"replace\",\"value\":)"
                             R"(\"overridden\"}]}}]"}},"spec":{"workload":{"manifests":[)",
                             json::Write(manifest), "]}}}"));
  }

  // As upstream's taint manager and scheduler do: the other cluster has it already, and this one
  // keeps it until the task ends.
  void EvictMoving() {
    const char* placement =
        R"({"spec":{"placement":{"clusterAffinity":{"clusterNames":["member1"]}}}})";
    plane.Patch("host", kPolicy, {ns, "moving"}, placement);
    plane.Patch("host", kBinding, {ns, "moving-configmap"},
                R"({"spec":{"placement":{"clusterAffinity":{"clusterNames":["member1"]}},
                    "gracefulEvictionTasks":[{"fromCluster":"member2",
                        "reason":"TaintUntolerated","producer":"TaintManager"}]}})");
    REQUIRE(plane.Eventually([&] {
      return Binding("moving-configmap").Get({"spec", "clusters"}).size() == 1;
    }));
  }
};

}  // namespace

TEST_CASE("What upstream has made is kept, and its attached bindings are followed", "[sandbox]") {
  Stopped s;
  ControlPlane& plane = s.plane;
  s.AttachSettings();
  s.OverrideTuned();
  s.EvictMoving();
  plane.StartDaemon();

  CHECK(s.Reads("member1", "settings", "first"));
  CHECK(s.Reads("member1", "tuned", "overridden"));

  s.Apply(Config("settings", "second"));
  s.Apply(Config("tuned", "second"));
  CHECK(s.Reads("member1", "settings", "second"));
  CHECK(s.Reads("member2", "tuned", "second"));

  s.Apply(PolicyFor("Deployment", "shop", "member2"));
  CHECK(s.Reads("member2", "settings", "second"));
  CHECK(s.Reads("member1", "settings", "-"));
  const json::Value required = s.Binding("settings-configmap").Get({"spec", "requiredBy"});
  REQUIRE(required.size() == 1);
  CHECK(required.At(0)["clusters"].At(0)["name"].AsString() == "member2");

  CHECK(s.ValueIn("member1", "tuned") == "overridden");
  CHECK(s.ValueIn("member1", "moving") == "first");
  // Upstream's task has been ended.
  CHECK(s.Reads("member2", "moving", "-"));
  CHECK(s.Binding("moving-configmap").Get({"spec", "gracefulEvictionTasks"}).empty());
}

}  // namespace tests
