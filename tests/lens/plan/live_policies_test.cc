// What policies, overrides and customizations in files change of live templates, and what holds
// edits back.
#include <catch2/catch.hpp>
#include <string>

#include "tests/lens/plan/live_plane.h"

namespace lens::plan {
namespace {

std::string Policy() {
  const std::string policy = kLiveScenery;
  const size_t at = policy.find("apiVersion: policy");
  return policy.substr(at, policy.find("---", at) - at);
}

constexpr char kEverywhere[] = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: everywhere, namespace: shop}
spec:
  overrideRules:
  - overriders: {imageOverrider: [{component: Registry, operator: add, value: reg.local}]}
)";

}  // namespace

TEST_CASE_METHOD(LivePlane, "Plan: neither edits nor overrides reach a template without a policy") {
  DeletePolicy();
  for (const std::string& files : {Deployment("web", 8, "settings"), std::string(kEverywhere)}) {
    CHECK(Differences(files) == "");
    CHECK_THAT(Found(finding::kHeldBack, "Deployment shop/web"),
               Catch::Contains("no policy governs it any more"));
    CHECK(Found(finding::kLoopWarning, "Deployment shop/web") == "");
  }
}

TEST_CASE_METHOD(LivePlane, "Plan: an edit waits for the override that its policy depends on") {
  std::string policy = Policy();
  policy.replace(policy.find("propagateDeps: true"), 19, "dependentOverrides: [everywhere]");
  Apply(kEverywhere);
  Apply(policy);
  REQUIRE(live->Settle({}).ok());
  REQUIRE(live->Delete(kube::Object(*yaml::Parse(kEverywhere))).ok());
  REQUIRE(live->Settle({}).ok());
  CHECK(Differences(Deployment("web", 8, "settings")) == "");
  CHECK_THAT(Found(finding::kHeldBack, "Deployment shop/web"),
             Catch::Contains("waiting for dependent overrides: shop/everywhere"));
  // The files bring what it waits for.
  CHECK_THAT(Differences(Deployment("web", 8, "settings") + "---" + kEverywhere),
             Catch::Contains("Deployment shop/web m1 change\n"));
  CHECK(Found(finding::kHeldBack, "Deployment shop/web") == "");
}

TEST_CASE_METHOD(LivePlane, "Plan: a lazy policy takes a template with its next edit") {
  std::string policy = Policy();
  policy.replace(policy.find("metadata: {name: web,"), 21, "metadata: {name: lazy,");
  policy.replace(policy.find("propagateDeps: true"), 19, "activationPreference: Lazy");
  policy.replace(policy.find("apps/v1, kind: Deployment}"), 26, "v1, kind: ConfigMap, name: more}");
  Apply(policy);
  REQUIRE(live->Settle({}).ok());
  const auto config_map = [](const std::string& value) {
    return absl::StrCat(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more, namespace: shop}\n",
        "data: {a: \"", value, "\"}\n");
  };
  CHECK(Differences("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more, namespace: shop}\n") ==
        "");
  CHECK_THAT(Found(finding::kHeldBack, "ConfigMap shop/more"), Catch::Contains("is lazy"));
  CHECK(Differences(config_map("1")) ==
        "ConfigMap shop/more m1 create\nConfigMap shop/more m2 create\n");
  CHECK(Found(finding::kHeldBack, "ConfigMap shop/more") == "");
}

TEST_CASE_METHOD(LivePlane, "Plan: a policy in the files takes a template that had none") {
  DeletePolicy();
  CHECK_THAT(Differences(Deployment("web", 8, "settings") + "---\n" + Policy()),
             Catch::Contains("Deployment shop/web m1 change\n"));
  CHECK(findings.empty());
}

TEST_CASE_METHOD(LivePlane,
                 "Plan: an override on disk changes the live templates that it selects") {
  CHECK(Differences(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: edge, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  overrideRules:
  - targetCluster: {labelSelector: {matchLabels: {tier: edge}}}
    overriders:
      imageOverrider: [{component: Registry, operator: add, value: edge.local}]
)") == "Deployment shop/other m1 change\nDeployment shop/web m1 change\n");
}

TEST_CASE_METHOD(LivePlane, "Plan: additional targets change the live templates that they cover") {
  constexpr char kWide[] = R"(
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: wide}
spec:
  target: {apiVersion: example.io/v1, kind: Gadget}
  additionalTargets: [{apiVersion: apps/*, kind: "*"}]
  customizations:
    replicaResource: {luaScript: "function GetReplicas(desiredObj) return 8 end"}
)";
  CHECK(Differences(kWide) == "");
  REQUIRE(daemon.gates.Set("CombinedCustomizations=true").ok());
  const std::string differences = Differences(kWide);
  CHECK_THAT(differences, Catch::Contains("Deployment shop/web m1 ") &&
                              Catch::Contains("Deployment shop/other m1 "));
}

TEST_CASE_METHOD(LivePlane, "Plan: a policy on disk moves the live templates that it has claimed") {
  CHECK(Differences(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web, namespace: shop}
spec:
  propagateDeps: true
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  placement:
    clusterAffinity: {clusterNames: [m2]}
    replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted}
)") == "ConfigMap shop/settings m1 delete\nDeployment shop/other m1 delete\n"
       "Deployment shop/other m2 change\nDeployment shop/web m1 delete\n"
       "Deployment shop/web m2 change\n");
}

}  // namespace lens::plan
