// What an edited template changes where a live control plane has propagated it.
#include <catch2/catch.hpp>
#include <string>

#include "sandbox/sim/kinds.h"
#include "tests/lens/plan/live_plane.h"

namespace lens::plan {

TEST_CASE_METHOD(LivePlane, "Plan: manifests that are applied already change nothing") {
  CHECK(Differences(Deployment("web", 4, "settings")) == "");
}

TEST_CASE_METHOD(LivePlane, "Plan: a changed template is compared with the live Works") {
  CHECK(Differences(Deployment("web", 6, "settings")) ==
        "Deployment shop/web m1 change\nDeployment shop/web m2 change\n");
  CHECK_THAT(last_diff, Catch::Contains("-  replicas: 2\n+  replicas: 3\n"));
}

TEST_CASE_METHOD(LivePlane, "Plan: an ordinary edit warns of nothing") {
  std::string edited = Deployment("web", 4, "settings");
  edited.replace(edited.find("image: nginx"), 12, "image: nginx:2");
  CHECK(Differences(edited) == "Deployment shop/web m1 change\nDeployment shop/web m2 change\n");
  CHECK(findings.empty());
}

TEST_CASE_METHOD(LivePlane,
                 "Plan: clusters that are not ready are named, if something changes there") {
  kube::Object silent = *live->backend().Get(api::Clusters().gvr(), {"", "m2"}).value();
  json::Value condition = json::Value::Object({{"type", "Ready"},
                                               {"status", "Unknown"},
                                               {"reason", "ClusterStatusUnknown"},
                                               {"message", "no news"},
                                               {"lastTransitionTime", "2026-01-01T11:00:00Z"}});
  silent.Set({"status", "conditions"}, json::Value::Array({condition}));
  REQUIRE(live->Apply(silent).ok());
  Differences(Deployment("web", 4, "settings"));
  CHECK(Found(finding::kClusterNotReady, "Cluster m2") == "");
  std::string edited = Deployment("web", 4, "settings");
  edited.replace(edited.find("image: nginx"), 12, "image: nginx:2");
  CHECK_THAT(Differences(edited), Catch::Contains("Deployment shop/web m2 change\n"));
  CHECK(
      Found(finding::kClusterNotReady, "Cluster m2") ==
      "it is not ready since 2026-01-01T11:00:00Z (ClusterStatusUnknown: no news); the changes of "
      "1 template reach it when it is ready again");
  CHECK(Found(finding::kClusterNotReady, "Cluster m1") == "");
  SECTION("unless the question is about it") {
    edits = {Cordoned("m2")};
    Differences(edited);
    CHECK(Found(finding::kClusterNotReady, "Cluster m2") == "");
  }
  SECTION("and nothing is deleted there when it leaves the fleet") {
    edits = {Without("m2")};
    const std::string all = Differences("");
    CHECK_THAT(
        all, Catch::Contains("Deployment shop/web m2 release\n") && !Catch::Contains("m2 delete"));
    CHECK(Found(finding::kClusterNotReady, "Cluster m2") ==
          "it is not ready since 2026-01-01T11:00:00Z (ClusterStatusUnknown: no news); nothing is "
          "deleted there when it leaves: 3 templates run on there and belong to nobody");
    REQUIRE(what_if.has_value());
    CHECK_THAT(what_if->notes.at(0),
               Catch::Contains("while it does not answer") && !Catch::Contains("deleted at once"));
    const Fate& fate = what_if->fates.at({"apps", "Deployment", "shop", "web"});
    REQUIRE(fate.leaves.size() == 1);
    CHECK(fate.leaves[0].ToString() ==
          "leaves m2 at once: its copy there runs on, and belongs to nobody");
    // One that answers is emptied.
    edits = {Without("m1")};
    CHECK_THAT(Differences(""), Catch::Contains("Deployment shop/web m1 delete\n"));
    CHECK_THAT(what_if->notes.at(0), Catch::Contains("deleted at once"));
  }
}

TEST_CASE_METHOD(LivePlane,
                 "Plan: clusters whose agent is silent are named, if something changes there") {
  Apply(
      "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: m2}\n"
      "spec: {syncMode: Pull}\n");
  const auto renewed = [&](const std::string& cluster, const std::string& time) {
    Apply(absl::StrCat("apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: ",
                       cluster, ", namespace: karmada-cluster}\n",
                       "spec: {leaseDurationSeconds: 40, renewTime: \"", time, "\"}\n"));
  };
  constexpr char kLongAgo[] = "2026-01-01T11:00:00.000000Z";
  renewed("m1", kLongAgo);  // A cluster in push mode has no agent any more.
  std::string edited = Deployment("web", 4, "settings");
  edited.replace(edited.find("image: nginx"), 12, "image: nginx:2");
  SECTION("silent") {
    renewed("m2", kLongAgo);
    Differences(Deployment("web", 4, "settings"));
    CHECK(Found(finding::kAgentSilent, "Cluster m2") == "");
    Differences(edited);
    CHECK(
        Found(finding::kAgentSilent, "Cluster m2") ==
        "its karmada-agent is silent since 2026-01-01T11:00:00.000000Z; the changes of 1 template "
        "reach it when its agent is back");
    CHECK(Found(finding::kAgentSilent, "Cluster m1") == "");
  }
  SECTION("silent, and the question is about the fleet") {
    renewed("m2", kLongAgo);
    edits = {Without("m1")};
    Differences("");
    CHECK_THAT(Found(finding::kAgentSilent, "Cluster m2"),
               Catch::Contains("the changes of 2 templates reach it when its agent is back"));
    edits = {Lost("m2")};
    Differences("");
    CHECK(Found(finding::kAgentSilent, "Cluster m2") == "");
    edits = {Without("m2")};
    CHECK_THAT(Differences(""), Catch::Contains("Deployment shop/web m2 release"));
    CHECK_THAT(Found(finding::kAgentSilent, "Cluster m2"),
               Catch::Contains("nothing is deleted there when it leaves"));
  }
  SECTION("alive") {
    renewed("m2", "2999-01-01T00:00:00.000000Z");
    Differences(edited);
    CHECK(Found(finding::kAgentSilent, "Cluster m2") == "");
  }
}

TEST_CASE_METHOD(LivePlane, "Plan: the simulated server's own definitions are no templates") {
  Apply(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: multicluster-services-api}
spec:
  resourceSelectors:
  - apiVersion: apiextensions.k8s.io/v1
    kind: CustomResourceDefinition
    name: serviceexports.multicluster.x-k8s.io
  placement: {clusterAffinity: {}}
)");
  REQUIRE(live->Settle({}).ok());
  CHECK(Differences(Deployment("web", 4, "settings")) == "");

  kube::Object definition = **live->backend().Get(sandbox::kinds::Definitions().gvr(),
                                                  {"", "serviceexports.multicluster.x-k8s.io"});
  CHECK(Differences(yaml::Write(definition.root())) == "");
  definition.SetLabel("tier", "api");
  constexpr char kName[] = "CustomResourceDefinition serviceexports.multicluster.x-k8s.io ";
  CHECK(Differences(yaml::Write(definition.root())) ==
        absl::StrCat(kName, "m1 change\n", kName, "m2 change\n"));
  CHECK_THAT(last_diff, Catch::Contains("+    tier: api\n"));
}

TEST_CASE_METHOD(LivePlane, "Plan: what kubectl has applied goes when the file has it no more") {
  const auto config_map = [](const std::string& rest) {
    return absl::StrCat("apiVersion: v1\nkind: ConfigMap\nmetadata:\n", rest);
  };
  Apply(config_map(R"(  name: settings
  namespace: shop
  labels: {applied: "1", of-others: "2"}
  annotations:
    of-others: "3"
    kubectl.kubernetes.io/last-applied-configuration: >
      {"apiVersion": "v1", "kind": "ConfigMap", "data": {"gone": "x"}, "metadata": {"annotations":
      {}, "labels": {"applied": "1"}, "name": "settings", "namespace": "shop"}}
data: {gone: x, stays: z}
)"));
  REQUIRE(live->Settle({}).ok());
  CHECK(Differences(config_map("  name: settings\n  namespace: shop\ndata: {new: x}\n")) ==
        "ConfigMap shop/settings m1 change\nConfigMap shop/settings m2 change\n");
  CHECK_THAT(last_diff, Catch::Contains("-    applied: \"1\"\n") &&
                            Catch::Contains("-  gone: x\n+  new: x\n   stays: z\n") &&
                            !Catch::Contains("-    of-others"));
}

TEST_CASE_METHOD(LivePlane, "Plan: a container that somebody else has added is no difference") {
  std::string with_proxy = Deployment("web", 4, "settings");
  with_proxy.insert(with_proxy.find("{name: main"), "{name: proxy, image: envoy}, ");
  Apply(with_proxy);
  REQUIRE(live->Settle({}).ok());
  CHECK(Differences(Deployment("web", 4, "settings")) == "");
  CHECK(Differences(Deployment("web", 4, "more")) ==
        "ConfigMap shop/more m1 create\nConfigMap shop/more m2 create\n"
        "Deployment shop/web m1 change\nDeployment shop/web m2 change\n");
  CHECK_THAT(last_diff, !Catch::Contains("envoy"));
}

TEST_CASE_METHOD(LivePlane, "Plan: a dependency that only the live control plane has follows") {
  CHECK(Differences(Deployment("web", 4, "more")) ==
        "ConfigMap shop/more m1 create\nConfigMap shop/more m2 create\n"
        "Deployment shop/web m1 change\nDeployment shop/web m2 change\n");
}

TEST_CASE_METHOD(LivePlane, "Plan: a live control plane is only read") {
  const auto versions = [&] {
    std::string text;
    for (const kube::Resource& resource : live->backend().Resources()) {
      const auto objects = live->backend().List(resource.gvr(), "", kube::LabelSelector());
      if (!objects.ok()) continue;
      for (const kube::ObjectPtr& object : *objects) {
        absl::StrAppend(&text, object->Describe(), " ", object->resource_version(), "\n");
      }
    }
    return text;
  };
  const std::string before = versions();
  Differences(Deployment("web", 7, "more"));
  CHECK(versions() == before);
}

}  // namespace lens::plan
