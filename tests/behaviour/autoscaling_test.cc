// What autoscalers in members do to templates: hpaScaleTargetMarker and deploymentReplicasSyncer.
#include <string>

#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

const kube::Gvk kAutoscaler{"autoscaling", "v2", "HorizontalPodAutoscaler"};

constexpr char kAutoscalerYaml[] = R"(
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: $NS}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 1
  maxReplicas: 9
)";

constexpr char kAutoscalerPolicy[] = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: autoscalers, namespace: $NS}
spec:
  resourceSelectors: [{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler}]
  placement: {clusterAffinity: {clusterNames: [member1, member2]}}
)";

}  // namespace

TEST_CASE(
    "What a propagated autoscaler scales keeps the members' replicas, and the template follows") {
  ControlPlane plane;
  plane.StopDaemon();
  plane.StartDaemon({"--controllers=*,hpaScaleTargetMarker,deploymentReplicasSyncer"});
  const std::string ns = plane.UniqueNamespace("scaled");
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.Apply("host", In(ns, WebDeployment()));
  plane.Apply("host", In(ns, DividedPolicy(kWebSelector, 1, 1)));
  plane.Apply("host", In(ns, kAutoscalerYaml));
  plane.Apply("host", In(ns, kAutoscalerPolicy));
  const auto template_now = [&] { return plane.Get("host", kDeployment, {ns, "web"}); };
  const auto is_marked = [&] {
    const auto now = template_now();
    return now && now->Label("resourcetemplate.karmada.io/retain-replicas") == "true";
  };
  REQUIRE(plane.Eventually(is_marked));
  REQUIRE(plane.Eventually([&] {
    const auto now = template_now();
    return now && now->Get({"status", "readyReplicas"}).AsInt() == 2;
  }));
  const auto replicas_in = [&](const char* cluster) {
    const auto there = plane.Get(cluster, kDeployment, {ns, "web"});
    return there ? there->spec()["replicas"].AsInt() : -1;
  };
  // The label has to be in the member before its number is kept there.
  REQUIRE(plane.Eventually([&] {
    const auto there = plane.Get("member1", kDeployment, {ns, "web"});
    return there && there->Label("resourcetemplate.karmada.io/retain-replicas") == "true";
  }));
  plane.Patch("member1", kDeployment, {ns, "web"}, R"({"spec":{"replicas":3}})");
  const auto follows = [&](int64_t sum) {
    return plane.Eventually([&] { return template_now()->spec()["replicas"].AsInt() == sum; });
  };
  CHECK(follows(4));
  CHECK(replicas_in("member1") == 3);

  // What happens while nobody runs is made up for.
  plane.StopDaemon();
  plane.Patch("member2", kDeployment, {ns, "web"}, R"({"spec":{"replicas":4}})");
  plane.StartDaemon({"--controllers=*,hpaScaleTargetMarker,deploymentReplicasSyncer"});
  CHECK(follows(7));
  CHECK(replicas_in("member1") == 3);
  CHECK(replicas_in("member2") == 4);

  plane.Delete("host", kAutoscaler, {ns, "web"});
  CHECK(plane.Eventually([&] { return !is_marked(); }));
}

}  // namespace tests
