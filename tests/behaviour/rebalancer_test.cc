// A WorkloadRebalancer makes the scheduler schedule workloads again, once.
#include <string>

#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

const kube::Gvk kRebalancer{"apps.karmada.io", "v1alpha1", "WorkloadRebalancer"};

constexpr char kRebalancerYaml[] = R"(
apiVersion: apps.karmada.io/v1alpha1
kind: WorkloadRebalancer
metadata: {name: $NS}
spec:
  workloads:
  - {apiVersion: apps/v1, kind: Deployment, namespace: $NS, name: web}
  - {apiVersion: apps/v1, kind: Deployment, namespace: $NS, name: lost}
  - {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, name: $NS}
)";

constexpr char kReaderYaml[] = R"(
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: $NS}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
)";

constexpr char kReaderPolicy[] = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: $NS}
spec:
  resourceSelectors: [{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, name: $NS}]
  placement: {clusterAffinity: {clusterNames: [member1]}}
)";

struct Plane {
  ControlPlane plane;
  std::string ns = plane.UniqueNamespace("rebalance");

  Plane() {
    plane.Apply("host", In(ns, kNamespaceYaml));
    plane.Apply("host", In(ns, kReaderYaml));
    plane.Apply("host", In(ns, kReaderPolicy));
    plane.Apply("host", In(ns, WebDeployment()));
    plane.Apply("host", In(ns, DividedPolicy(kWebSelector, 1, 1)));
    REQUIRE(plane.Eventually([&] {
      return plane.Exists("member1", kDeployment, {ns, "web"}) &&
             plane.Exists("member1", kClusterRole, {"", ns});
    }));
  }
  ~Plane() {
    plane.Delete("host", kClusterRole, {"", ns});
    plane.Delete("host", kClusterPolicy, {"", ns});
  }

  std::string TriggeredAt(const kube::Gvk& gvk, const kube::ObjectKey& key) {
    const auto binding = plane.Get("host", gvk, key);
    return binding ? binding->spec()["rescheduleTriggeredAt"].ToString() : "";
  }
  bool HasFinished() {
    const auto object = plane.Get("host", kRebalancer, {"", ns});
    return object && object->status().Has("finishTime");
  }
  // Returns "web=Successful/ ..." in the order of the status.
  std::string Results() {
    std::string text;
    for (const json::Value& item :
         plane.Get("host", kRebalancer, {"", ns})->status()["observedWorkloads"].items()) {
      absl::StrAppend(&text, item["workload"]["name"].AsString(), "=", item["result"].AsString(),
                      "/", item["reason"].AsString(), " ");
    }
    return text;
  }
};

}  // namespace

TEST_CASE("A WorkloadRebalancer triggers the scheduling of what it names, reports and expires") {
  Plane p;
  ControlPlane& plane = p.plane;
  plane.Apply("host", In(p.ns, kRebalancerYaml));
  REQUIRE(plane.Eventually([&] { return p.HasFinished(); }));
  const std::string created =
      plane.Get("host", kRebalancer, {"", p.ns})->metadata()["creationTimestamp"].ToString();
  CHECK(p.TriggeredAt(kBinding, {p.ns, "web-deployment"}) == created);
  CHECK(p.TriggeredAt(kClusterBinding, {"", absl::StrCat(p.ns, "-clusterrole")}) == created);
  CHECK(p.Results() == absl::StrCat("lost=Failed/ReferencedBindingNotFound web=Successful/ ", p.ns,
                                    "=Successful/ "));
  // The scheduler has acted on the request.
  CHECK(plane.Eventually([&] {
    const auto binding = plane.Get("host", kBinding, {p.ns, "web-deployment"});
    const auto last =
        kube::ParseTime(binding ? binding->status()["lastScheduledTime"].AsString() : "");
    return last.ok() && *last >= *kube::ParseTime(created);
  }));

  plane.Patch("host", kRebalancer, {"", p.ns}, R"({"spec":{"ttlSecondsAfterFinished":0}})");
  CHECK(plane.Eventually([&] { return !plane.Exists("host", kRebalancer, {"", p.ns}); }));
  CHECK(p.TriggeredAt(kBinding, {p.ns, "web-deployment"}) == created);
}

TEST_CASE("A WorkloadRebalancer that was made while nobody ran is worked off at the start, once") {
  Plane p;
  ControlPlane& plane = p.plane;
  plane.StopDaemon();
  plane.Apply("host", In(p.ns, kRebalancerYaml));
  const std::string created =
      plane.Get("host", kRebalancer, {"", p.ns})->metadata()["creationTimestamp"].ToString();
  plane.StartDaemon();
  REQUIRE(plane.Eventually([&] { return p.HasFinished(); }));
  CHECK(p.TriggeredAt(kBinding, {p.ns, "web-deployment"}) == created);
  plane.StopDaemon();
  const auto version = [&] {
    return std::string(plane.Get("host", kRebalancer, {"", p.ns})->resource_version());
  };
  const std::string before = version();
  plane.StartDaemon();
  plane.AwaitDaemon(p.ns);
  CHECK(plane.Always([&] { return version() == before; }));
  plane.Delete("host", kRebalancer, {"", p.ns});
}

}  // namespace tests
