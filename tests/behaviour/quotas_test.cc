// FederatedResourceQuotas: ResourceQuotas in clusters, and what clusters say of them.
#include <string>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/names.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

const kube::Gvk kFederatedQuota{"policy.karmada.io", "v1alpha1", "FederatedResourceQuota"};
const kube::Gvk kResourceQuota{"", "v1", "ResourceQuota"};

constexpr char kTeamYaml[] = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: FederatedResourceQuota
metadata: {name: team, namespace: $NS}
spec:
  overall: {cpu: "10", pods: "100"}
  staticAssignments:
  - {clusterName: member1, hard: {cpu: 2000m, pods: 10}}
  - {clusterName: member2, hard: {cpu: "3"}}
)";

// The sandbox has no controller that counts what a quota is about.
void Report(ControlPlane& plane, const std::string& member, const std::string& ns,
            const std::string& used) {
  if (plane.fleet() == nullptr) return;
  plane.Patch(member, kResourceQuota, {ns, "team"},
              absl::StrCat(R"({"status":{"hard":{"cpu":"2"},"used":{"cpu":")", used, R"("}}})"),
              "status");
}

}  // namespace

TEST_CASE("A FederatedResourceQuota becomes a ResourceQuota in each assigned cluster") {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("quota");
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.Apply("host", In(ns, kTeamYaml));
  const auto hard_in = [&](const char* member) {
    const auto quota = plane.Get(member, kResourceQuota, {ns, "team"});
    return quota ? json::Write(quota->spec()["hard"]) : std::string();
  };
  REQUIRE(plane.Eventually([&] {
    return hard_in("member1") == R"({"cpu":"2","pods":"10"})" &&
           hard_in("member2") == R"({"cpu":"3"})";
  }));
  const auto quota_now = [&] { return *plane.Get("host", kFederatedQuota, {ns, "team"}); };
  CHECK(plane.Eventually([&] { return quota_now().status()["overall"]["cpu"] == "10"; }));

  Report(plane, "member1", ns, "500m");
  Report(plane, "member2", ns, "1500m");
  if (plane.fleet() != nullptr) {
    CHECK(plane.Eventually([&] { return quota_now().status()["overallUsed"]["cpu"] == "2"; }));
    CHECK(quota_now().status()["aggregatedStatus"].size() == 2);
  }

  const auto work_key = [&](const char* member) {
    return kube::ObjectKey{api::ExecutionNamespace(member),
                           api::WorkName("ResourceQuota", "team", ns)};
  };
  // Real members have a controller of their own for quotas, which reports, too.
  const auto versions = [&] {
    return absl::StrCat(quota_now().resource_version(), " ",
                        plane.Get("host", kWork, work_key("member1"))->resource_version(), " ",
                        plane.Get("host", kWork, work_key("member2"))->resource_version());
  };
  REQUIRE(plane.Settles(versions,
                        plane.fleet() != nullptr ? absl::Milliseconds(700) : absl::Seconds(8)));

  // Nothing is written at a restart; what happened meanwhile is made up for.
  plane.StopDaemon();
  const std::string before = versions();
  plane.StartDaemon();
  plane.AwaitDaemon(ns);
  CHECK(versions() == before);

  plane.StopDaemon();
  plane.Patch("host", kFederatedQuota, {ns, "team"},
              R"({"spec":{"staticAssignments":[{"clusterName":"member2","hard":{"cpu":"4"}}]}})");
  plane.StartDaemon();
  CHECK(plane.Eventually(
      [&] { return hard_in("member1").empty() && hard_in("member2") == R"({"cpu":"4"})"; }));

  // A quota that is missing may be one that a restored backup brings; one that goes is gone.
  plane.StopDaemon();
  plane.Delete("host", kFederatedQuota, {ns, "team"});
  plane.StartDaemon();
  plane.AwaitDaemon(ns);
  CHECK(hard_in("member2") == R"({"cpu":"4"})");
  plane.Apply("host", In(ns, kTeamYaml));
  REQUIRE(plane.Eventually([&] { return hard_in("member2") == R"({"cpu":"3"})"; }));
  plane.Delete("host", kFederatedQuota, {ns, "team"});
  CHECK(plane.Eventually([&] { return hard_in("member1").empty() && hard_in("member2").empty(); }));
}

TEST_CASE("A quota that no cluster accepts is reported, and other quotas are as ever") {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("badquota");
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.AwaitDaemon(ns);
  const auto events = [&] { return plane.EventsOn(kFederatedQuota, "bad"); };
  // A real control plane's webhook refuses it.
  if (plane.fleet() != nullptr) {
    plane.Apply("host", In(ns, R"(
apiVersion: policy.karmada.io/v1alpha1
kind: FederatedResourceQuota
metadata: {name: bad, namespace: $NS}
spec:
  overall: {cpu: "1"}
  staticAssignments: [{clusterName: member1, hard: {cpu: "-1"}},
                      {clusterName: nowhere, hard: {cpu: "1"}}]
)"));
    CHECK(plane.Eventually([&] {
      return absl::StrContains(events(), "Warning SyncWorkFailed: cluster member1: ") &&
             absl::StrContains(events(), "Warning ClusterNotFound: there is no cluster nowhere");
    }));
  }
  plane.Apply("host", In(ns, kTeamYaml));
  CHECK(plane.Eventually([&] { return plane.Exists("member1", kResourceQuota, {ns, "team"}); }));
  CHECK_FALSE(plane.Exists("member1", kResourceQuota, {ns, "bad"}));
}

}  // namespace tests
