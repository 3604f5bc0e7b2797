// What tools wait for in the status of templates on the control plane: that it ends, well or badly.
#include <string>

#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

const kube::Gvk kStatefulSet{"apps", "v1", "StatefulSet"};

// A pod for which no node has room.
constexpr char kHugePod[] =
    R"({containers: [{name: m, image: "nginx:1.25", resources: {requests: {cpu: "5000"}}}]})";
constexpr char kPod[] = R"({containers: [{name: m, image: "nginx:1.25"}]})";

std::string PolicyFor(const std::string& name, const std::string& api_version,
                      const std::string& kind) {
  return absl::StrCat(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: )",
                      name, R"(, namespace: $NS}
spec:
  resourceSelectors: [{apiVersion: )",
                      api_version, ", kind: ", kind, R"(}]
  placement: {clusterAffinity: {clusterNames: [member1, member2]}}
)");
}

// A control plane with a namespace in which templates of a kind are propagated to both members.
struct Propagated {
  ControlPlane plane;
  const std::string ns;
  const kube::Gvk gvk;

  Propagated(const std::string& stem, const kube::Gvk& kind)
      : ns(plane.UniqueNamespace(stem)), gvk(kind) {
    Apply(kNamespaceYaml);
    Apply(PolicyFor("all", kind.ApiVersion(), kind.kind));
  }
  void Apply(const std::string& yaml) { plane.Apply("host", In(ns, yaml)); }
  json::Value Status(const std::string& name) {
    const auto object = plane.Get("host", gvk, {ns, name});
    return object ? object->status() : json::Value();
  }
  // Returns "status reason" of the condition; "" when the template does not have it.
  std::string Condition(const std::string& name, absl::string_view type) {
    const json::Value status = Status(name);
    const json::Value* found = kube::FindCondition(status["conditions"], type);
    if (found == nullptr) return "";
    return absl::StrCat((*found)["status"].AsString(), " ", (*found)["reason"].AsString());
  }
  bool Becomes(const std::string& name, absl::string_view type, absl::string_view outcome) {
    return plane.Eventually([&] { return Condition(name, type) == outcome; });
  }
};

std::string StatefulSet(const std::string& name) {
  return absl::StrCat(R"(
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: )",
                      name, R"(, namespace: $NS}
spec:
  replicas: 2
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: )",
                      kPod, "\n");
}

// With a deadline, it fails, because its pod waits for a node for ever.
std::string HugeJob(const std::string& name, const std::string& deadline) {
  return absl::StrCat(R"(
apiVersion: batch/v1
kind: Job
metadata: {name: )",
                      name, R"(, namespace: $NS}
spec:
)",
                      deadline, R"(
  template:
    spec:
      restartPolicy: Never
      containers: [{name: m, image: "nginx:1.25", resources: {requests: {cpu: "5000"}}}]
)");
}

}  // namespace

TEST_CASE("A job that failed in its clusters has failed on the control plane", "[pull]") {
  Propagated jobs("failed", kJob);
  jobs.Apply(HugeJob("bad", "  activeDeadlineSeconds: 1"));
  REQUIRE(jobs.Becomes("bad", "Failed", "True JobFailed"));
  CHECK(jobs.Condition("bad", "FailureTarget") == "True JobFailed");
  const json::Value status = jobs.Status("bad");
  CHECK(status["active"].AsInt() == 0);
  CHECK_FALSE(status["startTime"].is_null());
  CHECK(status["completionTime"].is_null());
}

TEST_CASE("A job that failed in one cluster fails once the other cluster's has ended, too",
          "[pull]") {
  Propagated jobs("half", kJob);
  jobs.Apply(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: deadline, namespace: $NS}
spec:
  resourceSelectors: [{apiVersion: batch/v1, kind: Job}]
  overrideRules:
  - targetCluster: {clusterNames: [member1]}
    overriders: {plaintext: [{path: /spec/activeDeadlineSeconds, operator: add, value: 1}]}
)");
  jobs.Apply(HugeJob("half", ""));
  REQUIRE(jobs.Becomes("half", "FailureTarget", "True JobFailed"));
  REQUIRE(jobs.plane.Eventually([&] { return jobs.Status("half")["active"].AsInt() == 1; }));
  CHECK(jobs.plane.Always([&] { return jobs.Condition("half", "Failed").empty(); }));
  jobs.plane.Patch("host", kJob, {jobs.ns, "half"}, R"({"spec":{"activeDeadlineSeconds":1}})");
  REQUIRE(jobs.Becomes("half", "Failed", "True JobFailed"));
  CHECK(jobs.Status("half")["active"].AsInt() == 0);
}

TEST_CASE("A StatefulSet that is ready in its clusters is observed on the control plane",
          "[pull]") {
  Propagated sets("observed", kStatefulSet);
  sets.Apply(StatefulSet("db"));
  const auto is_observed = [&](int64_t generation) {
    const auto db = sets.plane.Get("host", kStatefulSet, {sets.ns, "db"});
    return db && db->generation() == generation &&
           db->status()["observedGeneration"].AsInt() == generation &&
           db->status()["readyReplicas"].AsInt() == 4 &&
           db->status()["updatedReplicas"].AsInt() == 4;
  };
  REQUIRE(sets.plane.Eventually([&] { return is_observed(1); }));
  sets.plane.Patch("host", kStatefulSet, {sets.ns, "db"},
                   R"({"spec":{"template":{"metadata":{"annotations":{"v":"2"}}}}})");
  CHECK(sets.plane.Eventually([&] { return is_observed(2); }));
}

// Only the sandbox lets a test say which status upstream has left.
TEST_CASE("A take-over observes StatefulSets, and gives settled Deployments their conditions",
          "[sandbox][pull]") {
  Propagated sets("taken", kStatefulSet);
  sets.Apply(PolicyFor("deployments", "apps/v1", "Deployment"));
  sets.Apply(StatefulSet("db"));
  sets.Apply(Deployment("web", 2, kPod));
  const kube::ObjectKey db{sets.ns, "db"}, web{sets.ns, "web"};
  const auto status_of = [&](const kube::Gvk& gvk, const kube::ObjectKey& key) {
    const auto object = sets.plane.Get("host", gvk, key);
    return object ? object->status() : json::Value();
  };
  const auto is_complete = [&] {
    const json::Value status = status_of(kDeployment, web);
    return kube::IsConditionTrue(status["conditions"], "Available") &&
           kube::IsConditionTrue(status["conditions"], "Progressing") &&
           status["observedGeneration"].AsInt() == 1 && status["updatedReplicas"].AsInt() == 4;
  };
  REQUIRE(sets.plane.Eventually([&] {
    return status_of(kStatefulSet, db)["observedGeneration"].AsInt() == 1 && is_complete();
  }));
  const json::Value before = status_of(kDeployment, web);
  sets.plane.StopDaemon();
  const auto leave = [&](const kube::Resource& resource, const kube::ObjectKey& key,
                         const char* patch) {
    REQUIRE(sets.plane.client("host")
                .Patch(resource, key, kube::PatchType::kMerge, *json::Parse(patch),
                       {.subresource = "status"}, {})
                .ok());
  };
  leave({kStatefulSet, "statefulsets", true}, db, R"({"status":{"observedGeneration":null}})");
  leave({kDeployment, "deployments", true}, web, R"({"status":{"conditions":null}})");
  sets.plane.StartDaemon();
  CHECK(sets.plane.Eventually([&] {
    return status_of(kStatefulSet, db)["observedGeneration"].AsInt() == 1 && is_complete();
  }));
  const auto taken = sets.plane.Get("host", kDeployment, web);
  REQUIRE(taken);
  for (const char* counter :
       {"replicas", "readyReplicas", "updatedReplicas", "availableReplicas"}) {
    CHECK(taken->status()[counter] == before[counter]);
  }
  // A restart finds them as they are.
  sets.plane.StopDaemon();
  sets.plane.StartDaemon();
  sets.plane.AwaitDaemon(sets.ns);
  CHECK(sets.plane.Get("host", kDeployment, web)->resource_version() == taken->resource_version());
}

TEST_CASE("A Deployment is available, and has progressed, when it is ready in its clusters",
          "[pull]") {
  Propagated deployments("ready", kDeployment);
  deployments.Apply(Deployment("web", 2, kPod));
  REQUIRE(deployments.Becomes("web", "Progressing", "True NewReplicaSetAvailable"));
  CHECK(deployments.Becomes("web", "Available", "True MinimumReplicasAvailable"));
}

TEST_CASE("A Deployment that misses its deadline in a cluster has missed it", "[pull]") {
  Propagated deployments("late", kDeployment);
  deployments.Apply(Deployment("late", 1, kHugePod));
  deployments.plane.Patch("host", kDeployment, {deployments.ns, "late"},
                          R"({"spec":{"progressDeadlineSeconds":2}})");
  REQUIRE(deployments.Becomes("late", "Progressing", "False ProgressDeadlineExceeded"));
  CHECK(deployments.Becomes("late", "Available", "False MinimumReplicasUnavailable"));
  deployments.Apply(Deployment("late", 1, kPod));
  REQUIRE(deployments.Becomes("late", "Progressing", "True NewReplicaSetAvailable"));
  CHECK(deployments.Becomes("late", "Available", "True MinimumReplicasAvailable"));
}

}  // namespace tests
