// The events of a policy whose objects are not propagated, or not yet.
#include <string>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

using absl::StrContains;

// Returns a policy that propagates all objects of a kind to the cluster. `more` are lines of its
// spec.
std::string PolicyFor(const std::string& api_version, const std::string& kind,
                      const std::string& cluster, const std::string& more = "") {
  return absl::StrCat(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: p-$NS, namespace: $NS}
spec:
  resourceSelectors: [{apiVersion: )",
                      api_version, ", kind: ", kind, R"(}]
  placement: {clusterAffinity: {clusterNames: [)",
                      cluster, "]}}\n", more);
}

std::string PolicyName(const std::string& ns) { return absl::StrCat("p-", ns); }

bool RobotArrives(ControlPlane& plane, const std::string& ns) {
  return plane.Eventually([&] {
    return plane.Exists("member1", DefinedKind(ns, "Robot"), {ns, "one"});
  });
}

}  // namespace

TEST_CASE("A policy that names a kind or a cluster in vain gets a warning") {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("misspelt");
  const auto events = [&] { return plane.EventsOn(kPolicy, PolicyName(ns)); };
  plane.Apply("host", In(ns, kNamespaceYaml));
  // A policy that is there before the detector begins to work gets no event.
  plane.Apply("host", In(ns, PolicyFor("v1", "ConfigMap", "member1") + R"(---
apiVersion: v1
kind: ConfigMap
metadata: {name: one, namespace: $NS}
)"));
  REQUIRE(plane.Eventually([&] { return plane.Exists("member1", kConfigMap, {ns, "one"}); }));
  plane.Apply("host", In(ns, PolicyFor("apps/v1", "Deploymnt", "member1")));
  CHECK(plane.Eventually([&] {
    return StrContains(events(),
                       "Warning ResourceNotServed: spec.resourceSelectors names apps/v1 Deploymnt, "
                       "which the control plane does not serve; did you mean apps/v1 Deployment?");
  }));
  CHECK(StrContains(plane.DaemonLog(), "policies select a kind that is not served message="));

  // So gets one whose kind is served, but can never match.
  plane.Patch("host", kPolicy, {ns, PolicyName(ns)}, R"({"spec":{"resourceSelectors":[
                  {"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole"}]}})");
  CHECK(plane.Eventually([&] {
    return StrContains(events(),
                       "Warning ResourceNotPropagated: spec.resourceSelectors names "
                       "rbac.authorization.k8s.io/v1 ClusterRole, which is cluster-scoped");
  }));

  plane.Patch("host", kPolicy, {ns, PolicyName(ns)}, In(ns, R"({"spec":{"resourceSelectors":[
                  {"apiVersion":"$NS.example.io/v1","kind":"Robot"}]}})"));
  REQUIRE(plane.Eventually([&] { return StrContains(events(), "example.io/v1 Robot, which"); }));
  plane.ApplyEverywhere(In(ns, Definition("Robot", "robots")));
  plane.Apply("host", In(ns, kRobotYaml));
  CHECK(RobotArrives(plane, ns));

  // So does one that names a cluster which does not exist.
  plane.Patch("host", kPolicy, {ns, PolicyName(ns)}, R"({"spec":{"placement":{"clusterAffinity":{
                  "clusterNames":["member1","membr2"]}}}})");
  CHECK(plane.Eventually([&] {
    return StrContains(events(),
                       "Warning ClusterNotFound: there is no cluster membr2, which "
                       "spec.placement.clusterAffinity.clusterNames names");
  }));
}

// The other member never serves the kind, and no policy may choose it. Clusters collect their
// status rarely here, so that only an early collection can find the kind in time.
TEST_CASE("A definition and a policy and an object that come together arrive without a long wait",
          "[sandbox]") {
  ControlPlane plane({.daemon_flags = {"--cluster-status-update-frequency=10m"}});
  const std::string ns = plane.UniqueNamespace("together");
  REQUIRE(plane.Eventually([&] {
    const auto member = plane.Get("host", kCluster, {"", "member1"});
    return member && !member->Get({"status", "apiEnablements"}).empty();
  }));
  plane.Apply("host", In(ns, absl::StrCat(kNamespaceYaml, "---\n", Definition("Robot", "robots"),
                                          "---", PolicyFor("$NS.example.io/v1", "Robot", "member1"),
                                          R"(---
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: $NS}
spec:
  resourceSelectors:
  - {apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, name: robots.$NS.example.io}
  placement: {clusterAffinity: {clusterNames: [member1]}}
)")));
  plane.Apply("host", In(ns, kRobotYaml));
  CHECK(RobotArrives(plane, ns));
}

}  // namespace tests
