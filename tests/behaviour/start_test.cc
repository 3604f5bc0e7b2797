// What the log says at start and about clusters: to whoever takes a control plane over.
#include <string>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

bool Logs(ControlPlane& plane, const char* text) {
  return plane.Eventually([&] { return absl::StrContains(plane.DaemonLog(), text); });
}

}  // namespace

TEST_CASE("Flags without effect and objects of missing features are named in the log",
          "[sandbox]") {
  ControlPlane plane({.daemon_flags = {"--graceful-eviction-timeout=3m", "--controllers=*,-cluster",
                                       "--feature-gates=WorkloadAffinity=true"}});
  CHECK(Logs(plane, "karmada-controller-manager starts version="));
  CHECK(Logs(plane, "flags=\"--kubeconfig="));
  CHECK(Logs(plane, "gates=\"WorkloadAffinity=true\""));
  CHECK(Logs(plane, "--graceful-eviction-timeout=3m has no effect yet; it would end"));
  CHECK(Logs(plane, "WorkloadAffinity=true has no effect yet"));
  CHECK(Logs(plane, " off=cluster "));
  plane.StopDaemon();
  CHECK_FALSE(absl::StrContains(plane.DaemonLog(), "objects of features"));

  plane.Apply("host", R"(
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: registry, namespace: default}
spec:
  overrideRules:
  - overriders: {imageOverrider: [{component: Registry, operator: add, value: r.example.com}]}
)");
  plane.StartDaemon();
  CHECK(Logs(plane,
             "objects of features that this program does not have yet kinds="
             "\"overridepolicies.policy.karmada.io (manifests go to clusters without these "
             "overrides)\""));
}

TEST_CASE("Clusters that come, go and fail are one line each", "[sandbox]") {
  ControlPlane plane;
  plane.fleet()->member("member2")->faults().SetPartitioned(true);
  CHECK(Logs(plane,
             "cluster is not ready cluster=member2 status=False "
             "reason=ClusterNotReachable"));
  plane.fleet()->member("member2")->faults().SetPartitioned(false);
  CHECK(Logs(plane, "cluster is ready cluster=member2"));
  plane.Apply("host", R"(
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: far}
spec: {syncMode: Pull}
)");
  CHECK(Logs(plane, "cluster joined cluster=far mode=Pull"));
  plane.Delete("host", kCluster, {"", "far"});
  CHECK(Logs(plane, "cluster is leaving cluster=far"));
  CHECK(Logs(plane, "cluster left cluster=far"));
}

}  // namespace tests
