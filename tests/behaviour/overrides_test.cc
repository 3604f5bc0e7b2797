// Override policies on whole control planes.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/keys.h"
#include "api/names.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

const kube::Gvk kOverride{"policy.karmada.io", "v1alpha1", "OverridePolicy"};
const kube::Gvk kClusterOverride{"policy.karmada.io", "v1alpha1", "ClusterOverridePolicy"};

constexpr char kPolicyYaml[] = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web, namespace: $NS}
spec:
  resourceSelectors:
  - {apiVersion: apps/v1, kind: Deployment, name: web}
  - {apiVersion: v1, kind: ConfigMap, name: settings}
  placement: {clusterAffinity: {clusterNames: [member1, member2]}}
)";

constexpr char kOverrideYaml[] = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: o, namespace: $NS}
spec:
  resourceSelectors:
  - {apiVersion: apps/v1, kind: Deployment, name: web}
  overrideRules:
  - targetCluster: {clusterNames: [member2]}
    overriders:
      imageOverrider: [{component: Registry, operator: replace, value: registry.example.com}]
      argsOverrider: [{containerName: web, operator: add, value: [--verbose]}]
      labelsOverrider: [{operator: add, value: {tier: gold}}]
      plaintext: [{path: /spec/template/metadata/annotations, operator: add, value: {p: q}}]
---
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: text, namespace: $NS}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, name: settings}]
  overrideRules:
  - targetCluster: {clusterNames: [member1]}
    overriders:
      fieldOverrider:
      - {fieldPath: /data/k, json: [{subPath: /port, operator: replace, value: 81}]}
---
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterOverridePolicy
metadata: {name: $NS}
spec:
  resourceSelectors: [{apiVersion: v1, kind: Namespace, name: $NS}]
  overrideRules:
  - targetCluster: {clusterNames: [member1]}
    overriders: {labelsOverrider: [{operator: add, value: {zone: one}}]}
)";

// Returns the first container, or null.
json::Value Container(ControlPlane& plane, const std::string& cluster, const std::string& ns) {
  const auto web = plane.Get(cluster, kDeployment, {ns, "web"});
  return web ? web->Get({"spec", "template", "spec", "containers"}).At(0) : json::Value();
}

std::string Label(ControlPlane& plane, const std::string& cluster, const kube::Gvk& gvk,
                  const kube::ObjectKey& key, const std::string& label) {
  const auto object = plane.Get(cluster, gvk, key);
  return object ? std::string(object->Label(label)) : "";
}

}  // namespace

TEST_CASE("Override policies change what goes to the clusters they mean, and take it back",
          "[pull]") {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("overrides");
  const kube::ObjectKey web = {ns, "web"};
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.Apply("host", In(ns, kOverrideYaml));
  plane.Apply("host",
              In(ns, Deployment("web", 1, "{containers: [{name: web, image: 'nginx:1'}]}")));
  plane.Apply("host", In(ns, Settings(R"('{"z": 1.0, "port": 80}')")));
  plane.Apply("host", In(ns, kPolicyYaml));

  const auto runs = [&](const std::string& cluster, const std::string& image) {
    return plane.Eventually(
        [&] { return Container(plane, cluster, ns)["image"].AsString() == image; });
  };
  REQUIRE(runs("member1", "nginx:1"));
  REQUIRE(runs("member2", "registry.example.com/nginx:1"));
  CHECK(Container(plane, "member2", ns)["args"] == json::Value::Array({"--verbose"}));
  CHECK(Label(plane, "member1", kDeployment, web, "tier").empty());
  CHECK(Label(plane, "member2", kDeployment, web, "tier") == "gold");
  const auto text = [&](const std::string& cluster) {
    const auto settings = plane.Get(cluster, kConfigMap, {ns, "settings"});
    return settings ? settings->Get({"data", "k"}).ToString() : "";
  };
  CHECK(plane.Eventually([&] { return text("member1") == R"({"z":1.0,"port":81})"; }));
  CHECK(plane.Eventually([&] { return text("member2") == R"({"z": 1.0, "port": 80})"; }));
  const kube::ObjectKey namespaced = {"", ns};
  CHECK(plane.Eventually(
      [&] { return Label(plane, "member1", kNamespace, namespaced, "zone") == "one"; }));
  CHECK(Label(plane, "member2", kNamespace, namespaced, "zone").empty());
  const auto work = plane.Get(
      "host", kWork, {api::ExecutionNamespace("member2"), api::WorkName("Deployment", "web", ns)});
  REQUIRE(work);
  CHECK(absl::StartsWith(work->Annotation(api::kAppliedOverridesAnnotation),
                         R"([{"policyName":"o","overriders":{"plaintext":[{"path":)"));

  plane.Patch("host", kOverride, {ns, "o"}, R"({"spec": {"overrideRules": [{"overriders": {
      "plaintext": [{"path": "/spec/none", "operator": "remove"}]}}]}})");
  CHECK(plane.Eventually([&] {
    return absl::StrContains(
        plane.EventsOn(kDeployment, "web"),
        absl::StrCat("Warning ApplyOverridePolicyFailed: Apply override policy(", ns,
                     "/o) for cluster(member1) failed. spec.overrideRules[0].overriders."
                     "plaintext[0]: remove operation does not apply to \"/spec/none\""));
  }));
  CHECK(Label(plane, "member2", kDeployment, web, "tier") == "gold");

  for (const char* name : {"o", "text"}) plane.Delete("host", kOverride, {ns, name});
  plane.Delete("host", kClusterOverride, {"", ns});
  CHECK(plane.Eventually([&] {
    return Container(plane, "member2", ns)["image"].AsString() == "nginx:1" &&
           Label(plane, "member2", kDeployment, web, "tier").empty() &&
           Label(plane, "member1", kNamespace, namespaced, "zone").empty() &&
           text("member1") == text("member2");
  }));
}

// The first policy of the name is too long for the record in a Work, the second one is too much
// work: each of its overriders reads half a megabyte.
TEST_CASE("Override policies that are too much are reported, and hold up nothing else") {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("bounds");
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.Apply("host", In(ns, kPolicyYaml));
  plane.Apply("host",
              In(ns, Deployment("web", 1, "{containers: [{name: web, image: 'nginx:1'}]}")));
  const std::string large = absl::StrCat(R"({"text": ")", std::string(500'000, 'x'), R"("})");
  plane.Apply("host", In(ns, Settings(absl::StrCat("'", large, "'"))));
  const auto text = [&] {
    const auto settings = plane.Get("member1", kConfigMap, {ns, "settings"});
    return settings ? settings->Get({"data", "k"}).ToString() : "";
  };
  REQUIRE(plane.Eventually([&] { return text() == large; }));

  kube::Object policy = kube::Object::Make(kOverride, {ns, "much"});
  policy.Set(
      {"spec", "resourceSelectors"},
      json::Parse(R"([{"apiVersion": "v1", "kind": "ConfigMap", "name": "settings"}])").value());
  const json::Value field = json::Parse(R"({"fieldPath": "/data/k", "json": [
      {"subPath": "/added", "operator": "add", "value": true}]})")
                                .value();
  const json::Value label = json::Value::Object(
      {{"operator", "add"}, {"value", json::Value::Object({{"l", std::string(140'000, 'x')}})}});
  std::string why;
  json::Value overriders;
  SECTION("too long to be recorded") {
    overriders =
        json::Value::Object({{"annotationsOverrider", json::Value::Array({label, label})}});
    why =
        "spec.overrideRules[0].overriders: the overriders for one object and cluster are recorded";
  }
  SECTION("too much work") {
    overriders =
        json::Value::Object({{"fieldOverrider", json::Value::OfItems(std::vector(500, field))}});
    why = "spec.overrideRules[0].overriders.fieldOverrider[3";
  }
  policy.Set({"spec", "overrideRules"},
             json::Value::Array({json::Value::Object({{"overriders", overriders}})}));
  plane.Apply("host", json::Write(policy.root()));
  CHECK(plane.Eventually([&] {
    return absl::StrContains(
        plane.EventsOn(kConfigMap, "settings"),
        absl::StrCat("Warning ApplyOverridePolicyFailed: Apply override policy(", ns,
                     "/much) for cluster(member1) failed. ", why));
  }));
  CHECK(text() == large);
  plane.Patch("host", kDeployment, {ns, "web"}, R"({"metadata": {"labels": {"go": "on"}}})");
  CHECK(plane.Eventually([&] {
    return Label(plane, "member1", kDeployment, {ns, "web"}, "go") == "on";
  }));
  // Nobody tries again, but a change of the policy does.
  plane.Patch("host", kOverride, {ns, "much"}, R"({"spec": {"overrideRules": [{"overriders": {
      "labelsOverrider": [{"operator": "add", "value": {"few": "yes"}}]}}]}})");
  CHECK(plane.Eventually([&] {
    return Label(plane, "member1", kConfigMap, {ns, "settings"}, "few") == "yes";
  }));
}

TEST_CASE("A binding is not fully applied while a cluster that has been added has no Work",
          "[pull]") {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("added");
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.Apply("host", In(ns, R"(
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: fails, namespace: $NS}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, name: settings}]
  overrideRules:
  - targetCluster: {clusterNames: [member2]}
    overriders: {plaintext: [{path: /spec/none, operator: remove}]}
)"));
  plane.Apply("host", In(ns, Settings("v")));
  plane.Apply("host", In(ns, kSettingsPolicy));
  plane.Patch("host", kPolicy, {ns, "settings"},
              R"({"spec":{"placement":{"clusterAffinity":{"clusterNames":["member1"]}}}})");
  const auto binding = [&] {
    return plane.Get("host", kBinding, {ns, "settings-configmap"}).value_or(kube::Object());
  };
  const auto is_applied = [&] {
    return kube::IsConditionTrue(binding().status()["conditions"], "FullyApplied");
  };
  REQUIRE(
      plane.Eventually([&] { return binding().spec()["clusters"].size() == 1 && is_applied(); }));
  plane.Patch(
      "host", kPolicy, {ns, "settings"},
      R"({"spec":{"placement":{"clusterAffinity":{"clusterNames":["member1","member2"]}}}})");
  REQUIRE(plane.Eventually([&] { return binding().spec()["clusters"].size() == 2; }));
  CHECK(plane.Eventually([&] { return !is_applied(); }));
  plane.Delete("host", kOverride, {ns, "fails"});
  CHECK(plane.Eventually(is_applied));
  CHECK(SettingIn(plane, "member2", ns) == "v");
}

}  // namespace tests
