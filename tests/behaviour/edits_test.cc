// Edits of templates that no process can compare with an earlier state still reach the members.
#include <string>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/substitute.h"
#include "sandbox/api_server.h"
#include "sandbox/fleet.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

// Returns how often the controller manager has read a single object of a resource.
int64_t Gets(ControlPlane& plane, const std::string& resource) {
  int64_t gets = 0;
  for (const sandbox::RequestCount& c : plane.fleet()->control_plane().Requests()) {
    if (c.verb == "get" && c.resource == resource) gets += c.count;
  }
  return gets;
}

// Returns a definition of Robots in two versions, of which v1 is served or not.
std::string RobotDefinition(bool served) {
  return absl::Substitute(R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: robots.$$NS.example.io}
spec:
  group: $$NS.example.io
  names: {kind: Robot, listKind: RobotList, plural: robots, singular: robot}
  scope: Namespaced
  versions:
  - name: v1
    served: $0
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
  - name: v1beta1
    served: true
    storage: false
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
)",
                          served ? "true" : "false");
}

// What is served is asked for more often while a policy waits for a kind, here for Ghosts.
constexpr char kRobotsPolicy[] = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: robots, namespace: $NS}
spec:
  resourceSelectors:
  - {apiVersion: $NS.example.io/v1, kind: Robot}
  - {apiVersion: $NS.example.io/v1, kind: Ghost}
  placement: {clusterAffinity: {clusterNames: [member1]}}
)";

}  // namespace

TEST_CASE("An edit between the first look at a template and the first list of its kind lands",
          "[sandbox]") {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("edits");
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.Apply("host", In(ns, Settings("first")));
  plane.Apply("host", In(ns, kSettingsPolicy));
  const auto value = [&] { return SettingIn(plane, "member1", ns); };
  REQUIRE(plane.Eventually([&] { return value() == "first"; }));

  plane.StopDaemon();
  sandbox::Faults& faults = plane.fleet()->control_plane().faults();
  const int64_t before = Gets(plane, "configmaps");
  // Lists of all namespaces fail, single objects can be read.
  faults.FailNext(1000, 500, "GET", "/api/v1/configmaps");
  plane.StartDaemon();
  REQUIRE(plane.Eventually([&] { return Gets(plane, "configmaps") > before; }));
  REQUIRE(plane.Always([&] { return value() == "first"; }));
  plane.Apply("host", In(ns, Settings("second")));
  faults.Clear();
  CHECK(plane.Eventually([&] { return value() == "second"; }));
}

TEST_CASE("An edit while the version that a policy names is not served lands once it is",
          "[sandbox]") {
  ControlPlane plane({.daemon_flags = {"--v=1"}});
  const std::string ns = plane.UniqueNamespace("gap");
  plane.ApplyEverywhere(In(ns, RobotDefinition(true)));
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.Apply("host", In(ns, kRobotsPolicy));
  plane.Apply("host", In(ns, kRobotYaml));
  const kube::Gvk robot = DefinedKind(ns, "Robot");
  const auto arms = [&] {
    const auto one = plane.Get("member1", robot, {ns, "one"});
    return one ? one->Get({"spec", "arms"}).AsInt() : 0;
  };
  REQUIRE(plane.Eventually([&] { return arms() == 2; }));

  plane.Apply("host", In(ns, RobotDefinition(false)));
  REQUIRE(plane.Eventually([&] {
    const std::string log = plane.DaemonLog();
    const size_t at = log.find("a kind is not watched any more");
    return at != std::string::npos && absl::StrContains(log.substr(at, 200), ns);
  }));
  const kube::Gvk beta{robot.group, "v1beta1", robot.kind};
  plane.Patch("host", beta, {ns, "one"}, R"({"spec":{"arms":3}})");
  CHECK(plane.Always([&] { return arms() == 2; }));
  plane.Apply("host", In(ns, RobotDefinition(true)));
  CHECK(plane.Eventually([&] { return arms() == 3; }));
}

}  // namespace tests
