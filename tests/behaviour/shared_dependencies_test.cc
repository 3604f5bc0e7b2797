// What several workloads need, and what happens when their policies disagree about it.
#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/substitute.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

// A Deployment $0 that mounts the settings, and its policy, which names the cluster $1 and demands
// the conflict resolution $2.
constexpr char kShop[] = R"($3
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: $0, namespace: $$NS}
spec:
  propagateDeps: true
  conflictResolution: $2
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: $0}]
  placement: {clusterAffinity: {clusterNames: [$1]}}
)";
constexpr char kPod[] = R"({
      containers: [{name: main, image: "nginx:1.25"}],
      volumes: [{name: settings, configMap: {name: settings}}]})";

std::string Shop(const std::string& name, const std::string& cluster,
                 const std::string& resolution) {
  return absl::Substitute(kShop, name, cluster, resolution, Deployment(name, 1, kPod));
}

}  // namespace

TEST_CASE("What two workloads need is where either of them is, and contradictions are reported") {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("shared");
  const auto has = [&](const std::string& member) { return SettingIn(plane, member, ns) == "v"; };
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.Apply("host", In(ns, Settings("v")));
  plane.Apply("host", In(ns, Shop("one", "member1", "Abort")));
  REQUIRE(plane.Eventually([&] { return has("member1"); }));
  CHECK_FALSE(has("member2"));
  plane.Apply("host", In(ns, Shop("two", "member2", "Overwrite")));
  REQUIRE(plane.Eventually([&] { return has("member2"); }));
  CHECK(plane.Eventually([&] {
    return absl::StrContains(
        plane.EventsOn(kBinding, "settings-configmap"),
        In(ns,
           "Overwrite is demanded by $NS/two-deployment, Abort by $NS/one-deployment; "
           "Overwrite counts."));
  }));

  plane.Delete("host", kDeployment, {ns, "one"});
  CHECK(plane.Eventually([&] { return !has("member1"); }));
  CHECK(has("member2"));
  plane.Delete("host", kDeployment, {ns, "two"});
  CHECK(plane.Eventually([&] { return !has("member2"); }));
  CHECK(plane.Exists("host", kConfigMap, {ns, "settings"}));
}

}  // namespace tests
