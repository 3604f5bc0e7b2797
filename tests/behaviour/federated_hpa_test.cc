// FederatedHPAs: templates follow the load of their pods in all clusters.
#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"
#include "tests/support/metrics_server.h"

namespace tests {
namespace {

const kube::Gvk kFederatedHpa{"autoscaling.karmada.io", "v1alpha1", "FederatedHPA"};
const kube::Resource kPodsResource{{"", "v1", "Pod"}, "pods", /*namespaced=*/true};

const std::vector<std::string> kQuick = {"--horizontal-pod-autoscaler-sync-period=1s",
                                         "--horizontal-pod-autoscaler-downscale-stabilization=3s",
                                         "--horizontal-pod-autoscaler-cpu-initialization-period=0s",
                                         "--horizontal-pod-autoscaler-initial-readiness-delay=0s"};

constexpr char kWebPods[] =
    R"({containers: [{name: main, image: "nginx:1.25", resources: {requests: {cpu: 100m}}}]})";

// Returns a FederatedHPA "web" of the Deployment "web" from 2 to 6 replicas; `more` completes its
// spec.
std::string HpaYaml(
    const std::string& more,
    const std::string& target = "{apiVersion: apps/v1, kind: Deployment, name: web}") {
  return absl::Substitute(R"(
apiVersion: autoscaling.karmada.io/v1alpha1
kind: FederatedHPA
metadata: {name: web, namespace: $$NS}
spec:
  scaleTargetRef: $0
  minReplicas: 2
  maxReplicas: 6
  $1
)",
                          target, more);
}

constexpr char kCpu50[] =
    "metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, "
    "averageUtilization: 50}}}]";

struct Web {
  ControlPlane& plane;
  std::string ns;

  Web(ControlPlane& plane, const std::string& stem)
      : plane(plane), ns(plane.UniqueNamespace(stem)) {
    plane.StopDaemon();
    plane.StartDaemon(kQuick);
    plane.Apply("host", In(ns, kNamespaceYaml));
    plane.Apply("host", In(ns, Deployment("web", 2, kWebPods)));
    plane.Apply("host", In(ns, DividedPolicy(kWebSelector, 1, 1)));
    REQUIRE(plane.Eventually([&] { return ReadyReplicas() == 2; }));
  }
  int64_t ReadyReplicas() {
    const auto web = plane.Get("host", kDeployment, {ns, "web"});
    return web ? web->Get({"status", "readyReplicas"}).AsInt() : -1;
  }
  int64_t Replicas() {
    const auto web = plane.Get("host", kDeployment, {ns, "web"});
    return web ? web->spec()["replicas"].AsInt() : -1;
  }
  int64_t ReplicasIn(const char* member) {
    const auto web = plane.Get(member, kDeployment, {ns, "web"});
    return web ? web->spec()["replicas"].AsInt() : -1;
  }
  // Sets the CPU use of each pod that there is now.
  void Use(MetricsServer& metrics, int64_t milli) {
    std::vector<MetricsServer::PodUse> uses;
    for (const char* member : {"member1", "member2"}) {
      const auto pods = plane.client(member).ListAll(kPodsResource, ns, {}, {});
      REQUIRE(pods.ok());
      for (const kube::Object& pod : pods->items) {
        uses.push_back({member, std::string(pod.name()), milli});
      }
    }
    metrics.SetCpu(ns, uses);
  }
  kube::Object Hpa() {
    return plane.Get("host", kFederatedHpa, {ns, "web"}).value_or(kube::Object());
  }
  // Returns "<status> <reason>" of a condition.
  std::string Condition(const char* type) {
    const kube::Object hpa = Hpa();
    const json::Value* condition = kube::FindCondition(hpa.status()["conditions"], type);
    if (condition == nullptr) return "";
    return absl::StrCat((*condition)["status"].AsString(), " ", (*condition)["reason"].AsString());
  }
  // Returns whether the events on it have this text in the end: they are written one after the
  // other, beside the status.
  bool IsToldOf(const std::string& text) {
    return plane.Eventually(
        [&] { return absl::StrContains(plane.EventsOn(kFederatedHpa, "web"), text); });
  }
};

}  // namespace

TEST_CASE("A FederatedHPA scales its template up and down by the load in all members") {
  ControlPlane plane;
  MetricsServer metrics(plane);
  Web web(plane, "loaded");
  plane.Apply("host", In(web.ns, HpaYaml(kCpu50)));
  const auto scales_to = [&](int64_t replicas, int64_t use) {
    return plane.Eventually([&] {
      web.Use(metrics, use);
      return web.Replicas() == replicas && web.ReadyReplicas() == replicas;
    });
  };
  CHECK(scales_to(6, 300));  // Three times what the pods request.
  CHECK(web.ReplicasIn("member1") == 3);
  CHECK(web.ReplicasIn("member2") == 3);
  CHECK(
      plane.Eventually([&] { return web.Condition("ScalingLimited") == "True TooManyReplicas"; }));
  CHECK(web.Condition("ScalingActive") == "True ValidMetricFound");
  CHECK_FALSE(web.Hpa().status()["lastScaleTime"].AsString().empty());
  CHECK(web.IsToldOf("Normal SuccessfulRescale: New size: "));

  CHECK(scales_to(2, 1));
  CHECK(web.ReplicasIn("member1") == 1);
}

TEST_CASE("After a restart a FederatedHPA does not scale down before its window has passed") {
  ControlPlane plane;
  MetricsServer metrics(plane);
  Web web(plane, "restarted");
  web.Use(metrics, 50);  // As it should be.
  plane.Apply("host", In(web.ns, HpaYaml(kCpu50)));
  plane.Patch("host", kDeployment, {web.ns, "web"}, R"({"spec": {"replicas": 4}})");
  REQUIRE(plane.Eventually([&] { return web.ReadyReplicas() == 4; }));
  plane.StopDaemon();
  web.Use(metrics, 1);
  std::vector<std::string> flags = kQuick;
  flags[1] = "--horizontal-pod-autoscaler-downscale-stabilization=1h";
  plane.StartDaemon(flags);
  REQUIRE(
      plane.Eventually([&] { return web.Condition("AbleToScale") == "True ScaleDownStabilized"; }));
  CHECK(plane.Always([&] { return web.Replicas() == 4; }, absl::Seconds(3)));
  // More replicas need no window.
  CHECK(plane.Eventually([&] {
    web.Use(metrics, 300);
    return web.Replicas() == 6;
  }));
}

TEST_CASE("A FederatedHPA without metrics keeps to its bounds, and says what is missing") {
  ControlPlane plane;
  Web web(plane, "unmeasured");
  plane.Apply("host", In(web.ns, HpaYaml("")));
  CHECK(plane.Eventually(
      [&] { return web.Condition("ScalingActive") == "False FailedGetResourceMetric"; }));
  CHECK(web.Condition("AbleToScale") == "True SucceededGetScale");
  CHECK(web.Hpa().status()["currentReplicas"].AsInt() == 2);
  CHECK(web.IsToldOf("Warning FailedGetResourceMetric: "));
  CHECK(web.IsToldOf("Warning FailedComputeMetricsReplicas: "));
  // Real servers may have the API.
  CHECK(
      (plane.fleet() == nullptr ||
       web.IsToldOf("unable to fetch metrics from resource metrics API: the server could not find "
                    "the requested resource (get pods.metrics.k8s.io)")));

  plane.Patch("host", kDeployment, {web.ns, "web"}, R"({"spec": {"replicas": 9}})");
  CHECK(plane.Eventually([&] { return web.Replicas() == 6; }));
  plane.Patch("host", kDeployment, {web.ns, "web"}, R"({"spec": {"replicas": 1}})");
  CHECK(plane.Eventually([&] { return web.Replicas() == 2; }));
  CHECK(plane.Always([&] { return web.Replicas() == 2; }));

  // A target of zero is switched off.
  plane.Patch("host", kDeployment, {web.ns, "web"}, R"({"spec": {"replicas": 0}})");
  CHECK(
      plane.Eventually([&] { return web.Condition("ScalingActive") == "False ScalingDisabled"; }));
  CHECK(web.Replicas() == 0);
}

TEST_CASE("A FederatedHPA scales by metrics of pods and of objects") {
  ControlPlane plane;
  MetricsServer metrics(plane);
  Web web(plane, "custom");
  constexpr char kMetrics[] = R"(metrics:
  - {type: Pods, pods: {metric: {name: requests}, target: {type: AverageValue, averageValue: "10"}}}
  - type: Object
    object:
      metric: {name: hits}
      describedObject: {apiVersion: v1, kind: Service, name: web}
      target: {type: AverageValue, averageValue: "100"}
)";
  metrics.SetCustom(web.ns, "pods/*", "requests", "20");
  metrics.SetCustom(web.ns, "services/web", "hits", "200");
  web.Use(metrics, 1);
  plane.Apply("host", In(web.ns, HpaYaml(kMetrics)));
  CHECK(plane.Eventually([&] { return web.Replicas() == 4; }));
  metrics.SetCustom(web.ns, "pods/*", "requests", "1");
  metrics.SetCustom(web.ns, "services/web", "hits", "500");
  CHECK(plane.Eventually([&] {
    web.Use(metrics, 1);
    return web.Replicas() == 5;
  }));
  const kube::Object hpa = web.Hpa();
  CHECK(hpa.status()["currentMetrics"].size() == 2);
}

// Karmada's webhook, on real servers, refuses them.
TEST_CASE("A FederatedHPA scales by external metrics", "[sandbox]") {
  ControlPlane plane;
  MetricsServer metrics(plane);
  Web web(plane, "external");
  metrics.SetExternal(web.ns, "queue", "500");
  plane.Apply("host", In(web.ns, HpaYaml(R"(metrics:
  - {type: External, external: {metric: {name: queue}, target: {type: AverageValue, averageValue: "100"}}}
)")));
  CHECK(plane.Eventually([&] { return web.Replicas() == 5; }));
  CHECK(web.IsToldOf("external metric queue(nil) above target"));
}

TEST_CASE("A FederatedHPA scales any kind with a scale subresource, and no other") {
  ControlPlane plane;
  plane.StopDaemon();
  plane.StartDaemon(kQuick);
  const std::string ns = plane.UniqueNamespace("robots");
  std::string definition = In(ns, Definition("Robot", "robots", StatusPlace::kSubresource));
  const std::string status = "status: {}";
  REQUIRE(absl::StrContains(definition, status));
  definition.replace(definition.find(status), status.size(),
                     "status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: "
                     ".status.replicas, labelSelectorPath: .status.selector}");
  plane.ApplyEverywhere(definition);
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.Apply("host", In(ns, R"(
apiVersion: $NS.example.io/v1
kind: Robot
metadata: {name: one, namespace: $NS}
spec: {replicas: 1}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: one, namespace: $NS}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: robots, namespace: $NS}
spec:
  resourceSelectors:
  - {apiVersion: $NS.example.io/v1, kind: Robot}
  - {apiVersion: v1, kind: ConfigMap, name: one}
  placement: {clusterAffinity: {clusterNames: [member1, member2]}}
)"));
  const kube::Gvk robot = DefinedKind(ns, "Robot");
  REQUIRE(plane.Eventually([&] {
    return plane.Exists("member1", robot, {ns, "one"}) &&
           plane.Exists("member2", robot, {ns, "one"});
  }));
  plane.Apply("host", In(ns, HpaYaml("", absl::StrCat("{apiVersion: ", ns,
                                                      ".example.io/v1, kind: Robot, "
                                                      "name: one}"))));
  const auto replicas = [&](const char* cluster) {
    const auto one = plane.Get(cluster, robot, {ns, "one"});
    return one ? one->spec()["replicas"].AsInt() : -1;
  };
  CHECK(plane.Eventually([&] { return replicas("host") == 2 && replicas("member2") == 2; }));

  plane.Patch("host", kFederatedHpa, {ns, "web"},
              R"({"spec": {"scaleTargetRef": {"apiVersion": "v1", "kind": "ConfigMap"}}})");
  CHECK(plane.Eventually([&] {
    return absl::StrContains(plane.EventsOn(kFederatedHpa, "web"),
                             "Warning FailedGetScale: ConfigMap " + ns + "/one cannot be scaled: ");
  }));
}

TEST_CASE("A FederatedHPA of what is not propagated says so, and begins when it is") {
  ControlPlane plane;
  plane.StopDaemon();
  plane.StartDaemon(kQuick);
  const std::string ns = plane.UniqueNamespace("waiting");
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.Apply("host", In(ns, HpaYaml("")));
  const auto has = [&](const char* reason) {
    return plane.Eventually([&] {
      const auto hpa = plane.Get("host", kFederatedHpa, {ns, "web"});
      if (!hpa) return false;
      const json::Value* able = kube::FindCondition(hpa->status()["conditions"], "AbleToScale");
      return able != nullptr && (*able)["reason"].AsString() == reason;
    });
  };
  CHECK(has("FailedGetScaleTargetRef"));
  CHECK(plane.Eventually([&] {
    return absl::StrContains(plane.EventsOn(kFederatedHpa, "web"),
                             "Warning FailedGetScaleTargetRef: deployments.apps \"web\" not found");
  }));
  plane.Apply("host", In(ns, Deployment("web", 1, kWebPods)));
  CHECK(has("FailedGetBinding"));
  plane.Apply("host", In(ns, DividedPolicy(kWebSelector, 1, 1)));
  CHECK(plane.Eventually([&] {
    return plane.Get("host", kDeployment, {ns, "web"})->spec()["replicas"].AsInt() == 2;
  }));
}

}  // namespace tests
