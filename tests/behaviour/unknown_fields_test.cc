// What a later release of Karmada adds to objects outlives every loop that writes them.
// BEHAVIOUR_SEED determines the fields that are planted.
#include <cstdlib>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/substitute.h"
#include "sandbox/api_server.h"
#include "sandbox/fleet.h"
#include "tests/behaviour/manifests.h"
#include "tests/behaviour/planted_fields.h"
#include "tests/support/control_plane.h"
#include "tests/support/metrics_server.h"

namespace tests {
namespace {

const kube::Gvk kFederatedHpa{"autoscaling.karmada.io", "v1alpha1", "FederatedHPA"};
const kube::Gvk kCron{"autoscaling.karmada.io", "v1alpha1", "CronFederatedHPA"};
const kube::Gvk kRebalancer{"apps.karmada.io", "v1alpha1", "WorkloadRebalancer"};
const kube::Gvk kFederatedQuota{"policy.karmada.io", "v1alpha1", "FederatedResourceQuota"};
const kube::Gvk kResourceQuota{"", "v1", "ResourceQuota"};
const kube::Gvk kMultiClusterService{"networking.karmada.io", "v1alpha1", "MultiClusterService"};
const kube::Resource kPods{{"", "v1", "Pod"}, "pods", /*namespaced=*/true};

// A template that needs a ConfigMap, one that is scaled, one without a namespace, and a Service;
// an object of every kind that a loop writes to.
constexpr char kObjects[] = R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: cm, namespace: $NS}
data: {k: v}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: apps, namespace: $NS}
spec:
  resourceSelectors:
  - {apiVersion: apps/v1, kind: Deployment}
  propagateDeps: true
  placement:
    clusterAffinity: {clusterNames: [member1, member2]}
    clusterTolerations: [{key: mine, operator: Exists, tolerationSeconds: 60}]
  failover:
    application:
      decisionConditions: {tolerationSeconds: 3600}
      purgeMode: $GRACEFULLY
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: $NS}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
---
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: $NS}
spec:
  resourceSelectors: [{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, name: $NS}]
  placement: {clusterAffinity: {clusterNames: [member1, member2]}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterTaintPolicy
metadata: {name: down}
spec:
  addOnConditions: [{conditionType: Ready, operator: NotIn, statusValues: ["True"]}]
  removeOnConditions: [{conditionType: Ready, operator: In, statusValues: ["True"]}]
  taints: [{key: example.com/down, value: "yes", effect: NoSchedule}]
---
apiVersion: remedy.karmada.io/v1alpha1
kind: Remedy
metadata: {name: $NS}
spec:
  decisionMatches:
  - clusterConditionMatch: {conditionType: Ready, operator: Equal, conditionStatus: "True"}
  actions: [TrafficControl]
---
apiVersion: policy.karmada.io/v1alpha1
kind: FederatedResourceQuota
metadata: {name: team, namespace: $NS}
spec:
  overall: {cpu: "10"}
  staticAssignments:
  - {clusterName: member1, hard: {cpu: "2"}}
  - {clusterName: member2, hard: {cpu: "3"}}
---
apiVersion: autoscaling.karmada.io/v1alpha1
kind: FederatedHPA
metadata: {name: loaded, namespace: $NS}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: loaded}
  minReplicas: 2
  maxReplicas: 2
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]
---
apiVersion: autoscaling.karmada.io/v1alpha1
kind: CronFederatedHPA
metadata: {name: night, namespace: $NS}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  rules: [{name: far, schedule: "0 0 29 feb *", targetReplicas: 2}]
---
apiVersion: autoscaling.karmada.io/v1alpha1
kind: FederatedHPA
metadata: {name: bounded, namespace: $NS}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: absent}
  minReplicas: 1
  maxReplicas: 4
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]
---
apiVersion: autoscaling.karmada.io/v1alpha1
kind: CronFederatedHPA
metadata: {name: bounds, namespace: $NS}
spec:
  scaleTargetRef: {apiVersion: autoscaling.karmada.io/v1alpha1, kind: FederatedHPA, name: bounded}
  rules: [{name: far, schedule: "0 0 29 feb *", targetMaxReplicas: 9}]
---
apiVersion: apps.karmada.io/v1alpha1
kind: WorkloadRebalancer
metadata: {name: $NS}
spec:
  workloads:
  - {apiVersion: apps/v1, kind: Deployment, namespace: $NS, name: web}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: $NS}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: networking.karmada.io/v1alpha1
kind: MultiClusterService
metadata: {name: web, namespace: $NS}
spec:
  types: [CrossCluster]
  providerClusters: [{name: member1}]
  consumerClusters: [{name: member1}]
---
apiVersion: multicluster.x-k8s.io/v1alpha1
kind: ServiceImport
metadata: {name: imported, namespace: $NS}
spec: {type: ClusterSetIP, ports: [{port: 80, protocol: TCP}]}
)";

constexpr char kPod[] =
    R"({containers: [{name: main, image: "nginx:$0", resources: {requests: {cpu: $1}}}],
        volumes: [{name: v, configMap: {name: cm}}]})";

std::string Web(const std::string& name, const std::string& version, const std::string& cpu) {
  return Deployment(name, 2, absl::Substitute(kPod, version, cpu));
}

std::vector<std::string> Flags() {
  return {"--feature-gates=MultiClusterService=true,Failover=true,FederatedQuotaEnforcement=true",
          "--enable-no-execute-taint-eviction=true", "--horizontal-pod-autoscaler-sync-period=1s",
          "--horizontal-pod-autoscaler-cpu-initialization-period=0s",
          "--horizontal-pod-autoscaler-initial-readiness-delay=0s"};
}

class LaterRelease {
 public:
  LaterRelease() {
    plane.Apply("host", In(ns, kNamespaceYaml));
    plane.Apply("host", In(ns, Web("web", "1.25", "100m")));
    plane.Apply("host", In(ns, Web("loaded", "1.25", "100m")));
    plane.Apply("host", absl::StrReplaceAll(In(ns, kObjects), {{"$GRACEFULLY", gracefully}}));
    REQUIRE(plane.Eventually([&] {
      Use(100);
      Report("500m");
      return Replicas("web") == 4 && Replicas("loaded") == 4 && !Metric().is_null() &&
             Status(kFederatedQuota, "team")["aggregatedStatus"].size() == 2 &&
             Status(kFederatedQuota, "team")["overallUsed"]["cpu"] == "800m" &&
             !Status(kCron, "night")["executionHistories"].empty() &&
             !Status(kCron, "bounds")["executionHistories"].empty() &&
             !Get(kRebalancer, {"", ns}).status()["finishTime"].is_null() &&
             !Binding("cm-configmap").spec()["requiredBy"].empty() &&
             !Binding("web-service").spec()["placement"].is_null() &&
             !Status(kMultiClusterService, "web")["conditions"].empty() &&
             plane.Exists("member2", kClusterRole, {"", ns});
    }));
  }

  kube::Object Get(const kube::Gvk& gvk, const kube::ObjectKey& key) {
    return plane.Get("host", gvk, key).value_or(kube::Object());
  }
  kube::Object Binding(const std::string& name) { return Get(kBinding, {ns, name}); }
  json::Value Status(const kube::Gvk& gvk, const std::string& name) {
    return Get(gvk, {ns, name}).status();
  }
  // Returns where the ConfigMap is needed because of a binding.
  json::Value NeededBy(const std::string& binding) {
    const kube::Object needed = Binding("cm-configmap");
    for (const json::Value& entry : needed.spec()["requiredBy"].items()) {
      if (entry["name"].AsString() == binding) return entry["clusters"];
    }
    return {};
  }
  int64_t Replicas(const std::string& name) {
    return Status(kDeployment, name)["readyReplicas"].AsInt();
  }
  json::Value Metric() {
    return Status(kFederatedHpa, "loaded")["currentMetrics"].At(0).Get(
        {"resource", "current", "averageValue"});
  }
  bool IsTainted() {
    const kube::Object cluster = Get(kCluster, {"", "member1"});
    return absl::StrContains(json::Write(cluster.spec()["taints"]), "example.com/down") &&
           absl::StrContains(json::Write(cluster.spec()["taints"]), "not-ready");
  }

  // Has each pod use that much CPU.
  void Use(int64_t milli) {
    std::vector<MetricsServer::PodUse> uses;
    for (const char* member : {"member1", "member2"}) {
      const auto pods = plane.client(member).ListAll(kPods, ns, {}, {});
      REQUIRE(pods.ok());
      for (const kube::Object& pod : pods->items) {
        uses.push_back({member, std::string(pod.name()), milli});
      }
    }
    metrics.SetCpu(ns, uses);
  }
  // Has the quotas of members say that they are used; nobody counts that there.
  void Report(const std::string& cpu) {
    for (const char* member : {"member1", "member2"}) {
      if (!plane.Exists(member, kResourceQuota, {ns, "team"})) continue;
      plane.Patch(member, kResourceQuota, {ns, "team"},
                  absl::StrCat(R"({"status":{"hard":{"cpu":"2"},"used":{"cpu":")", cpu, R"("}}})"),
                  "status");
    }
  }

  // Adds to objects what only comes about with time. REQUIRES: no controller manager runs.
  void AddHistory() {
    plane.Patch("host", kBinding, {ns, "web-deployment"},
                absl::Substitute(
                    R"({"spec":{"gracefulEvictionTasks":[{"fromCluster":"gone","producer":"me",
                        "reason":"test","purgeMode":"$0","suppressDeletion":true}]}})",
                    gracefully));
    plane.Patch("host", kCluster, {"", "member1"},
                R"({"spec":{"taints":[{"key":"mine","effect":"PreferNoSchedule"}]}})");
    json::Value histories = Status(kCron, "night")["executionHistories"];
    histories.MutableAt(0).Set("successfulExecutions",
                               json::Parse(R"([{"scheduleTime":"2024-02-29T00:00:00Z",
            "executionTime":"2024-02-29T00:00:01Z","appliedReplicas":2}])")
                                   .value());
    plane.Patch("host", kCron, {ns, "night"},
                absl::StrCat(R"({"status":{"executionHistories":)", json::Write(histories), "}}"),
                "status");
  }

  // Changes whatever loops write, in lists above all.
  void ChangeEverything() {
    const auto edit = [&](const kube::Gvk& gvk, const std::string& name, const char* patch) {
      plane.Patch("host", gvk, {ns, name}, In(ns, patch));
    };
    plane.Apply("host", In(ns, Web("web", "1.26", "150m")));
    edit(kPolicy, "apps", R"({"spec":{"preserveResourcesOnDeletion":true}})");
    plane.Patch("host", kClusterPolicy, {"", ns},
                R"({"spec":{"preserveResourcesOnDeletion":true}})");
    json::Value consumers = Get(kMultiClusterService, {ns, "web"}).spec()["consumerClusters"];
    consumers.Append(json::Value::Object({{"name", "member2"}}));
    edit(kMultiClusterService, "web",
         absl::StrCat(R"({"spec":{"consumerClusters":)", json::Write(consumers), "}}").c_str());
    edit(kFederatedQuota, "team", R"({"spec":{"overall":{"cpu":"11"}}})");
    Report("700m");
    Use(60);
    json::Value rules = Get(kCron, {ns, "night"}).spec()["rules"];
    rules.MutableAt(0).Set("schedule", "0 1 29 feb *");
    json::Value workloads = Get(kRebalancer, {"", ns}).spec()["workloads"];
    json::Value lost = workloads.At(0);
    lost.Set("name", "lost");
    workloads.Append(std::move(lost));
    // The sandbox permits intervals, which karmada-webhook does not.
    json::Value bounds = Get(kCron, {ns, "bounds"}).spec()["rules"];
    bounds.MutableAt(0).Set("schedule", "@every 2s");
    edit(kCron, "bounds", absl::StrCat(R"({"spec":{"rules":)", json::Write(bounds), "}}").c_str());
    edit(kCron, "night", absl::StrCat(R"({"spec":{"rules":)", json::Write(rules), "}}").c_str());
    plane.Patch("host", kRebalancer, {"", ns},
                absl::StrCat(R"({"spec":{"workloads":)", json::Write(workloads), "}}"));
    plane.Apply("member1", In(ns, Definition("Robot", "robots")));
    // As the scheduler of Karmada v1.19 writes it.
    json::Value clusters = Binding("web-deployment").spec()["clusters"];
    clusters.MutableAt(0).Set("components",
                              json::Parse(R"([{"name":"main","replicas":2}])").value());
    edit(kBinding, "web-deployment",
         absl::StrCat(R"({"spec":{"clusters":)", json::Write(clusters), "}}").c_str());
  }
  // REQUIRES: nothing is going to be scheduled.
  void CutMemberOff() {
    plane.fleet()->member("member1")->faults().SetPartitioned(true);
    REQUIRE(plane.Eventually([&] { return IsTainted(); }));
    plane.fleet()->member("member1")->faults().SetPartitioned(false);
    REQUIRE(plane.Eventually([&] {
      return Get(kCluster, {"", "member1"}).spec()["taints"].size() == 1;
    }));
  }

  // Has rules be executed no more.
  void EndIntervals() {
    json::Value bounds = Get(kCron, {ns, "bounds"}).spec()["rules"];
    bounds.MutableAt(0).Set("suspend", true);
    plane.Patch("host", kCron, {ns, "bounds"},
                absl::StrCat(R"({"spec":{"rules":)", json::Write(bounds), "}}"));
  }
  // Evicts everything from a member for ever. The binding of `web` has a task already.
  void Evict() {
    json::Value taints = Get(kCluster, {"", "member2"}).spec()["taints"];
    if (!taints.is_array()) taints = json::Value::Array();
    taints.Append(json::Value::Object({{"key", "evict"}, {"effect", "NoExecute"}}));
    plane.Patch("host", kCluster, {"", "member2"},
                absl::StrCat(R"({"spec":{"taints":)", json::Write(taints), "}}"));
    REQUIRE(plane.Eventually([&] {
      const json::Value spec = Binding("web-deployment").spec();
      return spec["clusters"].size() == 1 && spec["gracefulEvictionTasks"].size() == 1;
    }));
  }

  // Waits until the changes have come about.
  void Await() {
    std::string awaited;
    const bool passed = plane.Eventually([&] { return (awaited = Awaited()).empty(); });
    INFO("awaited: " << awaited);
    REQUIRE(passed);
  }

  // Returns what of these changes has not come about yet.
  std::string Awaited() {
    std::string awaited;
    const auto check = [&](const char* what, bool holds) {
      if (!holds) absl::StrAppend(&awaited, what, "; ");
    };
    const kube::Object web = Binding("web-deployment");
    const json::Value& task = web.spec()["gracefulEvictionTasks"].At(0);
    check("the task",
          task.Has("creationTimestamp") && task["purgeMode"].AsString() == "Gracefully");
    check("the edit", web.spec()["preserveResourcesOnDeletion"].AsBool());
    check("the edit of the cluster policy", Get(kClusterBinding, {"", ns + "-clusterrole"})
                                                .spec()["preserveResourcesOnDeletion"]
                                                .AsBool());
    for (const char* member : {"member1", "member2"}) {
      const auto there = plane.Get(member, kDeployment, {ns, "web"});
      check("the image", there && absl::StrContains(json::Write(there->spec()), "nginx:1.26") &&
                             there->status()["updatedReplicas"].AsInt() == 2);
    }
    check("the replicas", Replicas("web") == 4);
    check("the consumers", Binding("web-service")
                                   .Get({"spec", "placement", "clusterAffinity", "clusterNames"})
                                   .size() == 2);
    const json::Value quota = Status(kFederatedQuota, "team");
    check("the quota", quota["overall"]["cpu"] == "11" && quota["overallUsed"]["cpu"] == "1");
    check("the quotas of members",
          absl::StrContains(json::Write(quota["aggregatedStatus"]), R"("used":{"cpu":"700m"})"));
    check("the bounds", Get(kFederatedHpa, {ns, "bounded"}).Get({"spec", "maxReplicas"}) == 9);
    check("the metric", Metric() == "60m");
    check("the time",
          absl::EndsWith(
              Status(kCron, "night")["executionHistories"].At(0)["nextExecutionTime"].AsString(),
              "T01:00:00Z"));
    check("the rebalancer", Get(kRebalancer, {"", ns}).status()["observedWorkloads"].size() == 2);
    const kube::Object cluster = Get(kCluster, {"", "member1"});
    check("the kind", absl::StrContains(json::Write(cluster.status()["apiEnablements"]), "Robot"));
    check("the components", NeededBy("web-deployment") == web.spec()["clusters"] &&
                                web.spec()["clusters"].At(0).Has("components"));
    return awaited;
  }

  ControlPlane plane{
      {.daemon_flags = Flags(), .daemon_environment = {"TZ=UTC"}, .enforce_quotas = true}};
  MetricsServer metrics{plane};
  std::string ns = plane.UniqueNamespace("later");
  // Servers of v1.19 refuse the older name.
  const std::string gracefully =
      plane.release() == config::Release::kV1_18 ? "Graciously" : "Gracefully";
};

}  // namespace

TEST_CASE("Fields that a later release adds at any level survive whatever loops write",
          "[sandbox]") {
  const char* given = std::getenv("BEHAVIOUR_SEED");
  uint64_t seed = 1;
  if (given != nullptr) REQUIRE(absl::SimpleAtoi(given, &seed));
  INFO("BEHAVIOUR_SEED=" << seed);
  LaterRelease later;
  ControlPlane& plane = later.plane;
  plane.StopDaemon();
  later.AddHistory();
  PlantedFields fields(plane, seed);
  fields.Plant();
  plane.StartDaemon();
  later.ChangeEverything();
  later.Await();
  later.EndIntervals();
  later.CutMemberOff();
  later.Await();
  // A field that a loop loses is lost within one of its passes.
  REQUIRE(plane.Settles([&] { return fields.Versions(); }, absl::Seconds(3)));
  CHECK(fields.Missing([&](const std::string& field) {
    // The scheduler has placed the Service again.
    return absl::StartsWith(field, "ResourceBinding " + later.ns + "/web-service: spec.clusters[]");
  }) == "");

  // What is a copy has what its source has.
  const kube::ObjectKey web = {later.ns, "web-deployment"};
  CHECK(fields.Below(kBinding, web, "spec.clusters[]").size() >= 2);
  for (const char* part : {"spec.placement", "spec.failover"}) {
    const auto asked = fields.Below(kPolicy, {later.ns, "apps"}, part);
    CHECK(asked.size() >= 3);
    CHECK(fields.Below(kBinding, web, part) == asked);
  }

  // An eviction takes items out of lists, and adds a task beside the one that was there.
  later.Evict();
  REQUIRE(plane.Settles([&] { return fields.Versions(); }, absl::Seconds(3)));
  CHECK(fields.Missing([&](const std::string& field) {
    return absl::StrContains(field, ": spec.clusters[]") ||
           absl::StrContains(field, ": status.aggregatedStatus[]") ||
           absl::StrContains(field, " karmada-es-member2/");
  }) == "");

  // A controller manager that takes the plane over finds nothing to write.
  const std::string versions = fields.Versions();
  plane.StopDaemon();
  plane.StartDaemon();
  plane.AwaitDaemon(later.ns);
  REQUIRE(plane.Settles([&] { return fields.Versions(); }, absl::Seconds(3)));
  CHECK(fields.Versions() == versions);
}

}  // namespace tests
