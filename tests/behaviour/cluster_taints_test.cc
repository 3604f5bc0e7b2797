// ClusterTaintPolicies taint clusters by their conditions.
#include <string>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "sandbox/api_server.h"
#include "sandbox/fleet.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

constexpr char kTaintPolicy[] = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterTaintPolicy
metadata: {name: down}
spec:
  addOnConditions: [{conditionType: Ready, operator: NotIn, statusValues: ["True"]}]
  removeOnConditions: [{conditionType: Ready, operator: In, statusValues: ["True"]}]
  taints: [{key: example.com/down, value: "yes", effect: NoSchedule}]
)";

// Returns the taint that the policy brings; null when the cluster does not have it.
json::Value TaintOf(ControlPlane& plane, const std::string& cluster) {
  for (const json::Value& taint :
       plane.Get("host", kCluster, {"", cluster})->spec()["taints"].items()) {
    if (taint["key"].AsString() == "example.com/down") return taint;
  }
  return {};
}

}  // namespace

TEST_CASE("A cluster whose condition turns false gets the taint of a policy, and loses it again",
          "[sandbox]") {
  ControlPlane plane({.daemon_flags = {"--feature-gates=Failover=true"}});
  const auto is_tainted = [&] { return !TaintOf(plane, "member2").is_null(); };
  plane.Apply("host", kTaintPolicy);
  plane.fleet()->member("member2")->faults().SetPartitioned(true);
  REQUIRE(plane.Eventually(is_tainted));
  CHECK(TaintOf(plane, "member2")["value"].AsString() == "yes");
  CHECK_FALSE(TaintOf(plane, "member2")["timeAdded"].AsString().empty());
  CHECK(TaintOf(plane, "member1").is_null());
  CHECK(plane.Eventually([&] {
    return absl::StrContains(plane.EventsOn(kCluster, "member2"),
                             "TaintClusterSucceed: Update Cluster(member2) with taints(");
  }));

  // The taint goes as well when the cluster recovers while nobody looks.
  const bool restarts = GENERATE(false, true);
  if (restarts) plane.StopDaemon();
  plane.fleet()->member("member2")->faults().SetPartitioned(false);
  if (restarts) plane.StartDaemon();
  CHECK(plane.Eventually([&] { return !is_tainted(); }));
}

}  // namespace tests
