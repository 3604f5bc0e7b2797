// Remedies: the actions that clusters need because of their conditions.
#include <string>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

const kube::Gvk kRemedy{"remedy.karmada.io", "v1alpha1", "Remedy"};

// The condition that the cluster status loop keeps true for a member that answers.
constexpr char kRemedyYaml[] = R"(
apiVersion: remedy.karmada.io/v1alpha1
kind: Remedy
metadata: {name: $NS}
spec:
  clusterAffinity: {clusterNames: [member1, no-such-cluster]}
  decisionMatches:
  - clusterConditionMatch: {conditionType: Ready, operator: Equal, conditionStatus: "True"}
  actions: [TrafficControl, $NS]
)";

}  // namespace

TEST_CASE("A cluster has the actions of the remedies that match its conditions") {
  ControlPlane plane;
  const std::string name = plane.UniqueNamespace("remedy");
  const auto has_it = [&](const char* cluster) {
    const auto now = plane.Get("host", kCluster, {"", cluster});
    return absl::StrContains(json::Write(now->status()["remedyActions"]),
                             absl::StrCat("\"", name, "\""));
  };
  plane.Apply("host", In(name, kNamespaceYaml));
  plane.AwaitDaemon(name);
  plane.Apply("host", In(name, kRemedyYaml));
  CHECK(plane.Eventually([&] { return has_it("member1"); }));
  CHECK_FALSE(has_it("member2"));
  CHECK(plane.Eventually([&] {
    return absl::StrContains(plane.EventsOn(kRemedy, name),
                             "Warning ClusterNotFound: there is no cluster no-such-cluster");
  }));
  plane.Patch("host", kRemedy, {"", name},
              R"({"spec":{"clusterAffinity":{"clusterNames":["member2"]}}})");
  CHECK(plane.Eventually([&] { return !has_it("member1") && has_it("member2"); }));

  // What happens while nobody runs is made up for.
  plane.StopDaemon();
  plane.Delete("host", kRemedy, {"", name});
  CHECK(has_it("member2"));
  plane.StartDaemon();
  CHECK(plane.Eventually([&] { return !has_it("member2"); }));
}

}  // namespace tests
