// FederatedResourceQuotas limit what the bindings of a namespace use. The sandbox books it as
// karmada-webhook does; a real plane would need the webhook's feature gate.
#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

const kube::Gvk kFederatedQuota{"policy.karmada.io", "v1alpha1", "FederatedResourceQuota"};

ControlPlane::Options Enforced() {
  return {.daemon_flags = {"--feature-gates=FederatedQuotaEnforcement=true"},
          .enforce_quotas = true};
}

constexpr char kTeamYaml[] = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: FederatedResourceQuota
metadata: {name: team, namespace: $NS}
spec: {overall: {cpu: "1", example.com/gpu: "4"}}
)";

constexpr char kPolicyYaml[] = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: all, namespace: $NS}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  placement:
    clusterAffinity: {clusterNames: [member1, member2]}
    replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted}
)";

std::string Workload(const std::string& name, int replicas, const std::string& cpu) {
  return Deployment(
      name, replicas,
      absl::StrCat("{containers: [{name: c, image: nginx, resources: {requests: {cpu: ", cpu,
                   "}}}]}"));
}

std::string Used(ControlPlane& plane, const std::string& ns) {
  const auto quota = plane.Get("host", kFederatedQuota, {ns, "team"});
  return quota ? json::Write(quota->status()["overallUsed"]) : "";
}

// Returns the reason of the binding's condition Scheduled.
std::string Scheduled(ControlPlane& plane, const std::string& ns, const std::string& name) {
  const auto binding = plane.Get("host", kBinding, {ns, absl::StrCat(name, "-deployment")});
  if (!binding) return "";
  const json::Value* condition =
      kube::FindCondition(binding->Get({"status", "conditions"}), "Scheduled");
  return condition == nullptr ? "" : (*condition)["reason"].ToString();
}

}  // namespace

TEST_CASE("A binding that would exceed the quota says so, and is placed when there is room",
          "[sandbox]") {
  ControlPlane plane(Enforced());
  const std::string ns = plane.UniqueNamespace("limited");
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.Apply("host", In(ns, kTeamYaml));
  plane.Apply("host", In(ns, kPolicyYaml));
  plane.Apply("host", In(ns, Workload("first", 2, "300m")));
  REQUIRE(plane.Eventually([&] { return Used(plane, ns) == R"({"cpu":"600m"})"; }));
  plane.Apply("host", In(ns, Workload("second", 2, "300m")));
  REQUIRE(plane.Eventually([&] { return Scheduled(plane, ns, "second") == "QuotaExceeded"; }));
  CHECK(Scheduled(plane, ns, "first") == "Success");
  CHECK(Used(plane, ns) == R"({"cpu":"600m"})");

  // Nothing is written at a restart.
  const auto quota = [&] {
    return json::Write(plane.Get("host", kFederatedQuota, {ns, "team"})->root());
  };
  REQUIRE(plane.Settles(quota, absl::Seconds(1)));
  const std::string before = quota();
  plane.StopDaemon();
  plane.StartDaemon();
  plane.AwaitDaemon(ns);
  CHECK(quota() == before);

  // What is deleted while nobody runs is given back.
  plane.StopDaemon();
  plane.Delete("host", kDeployment, {ns, "first"});
  plane.StartDaemon();
  CHECK(plane.Eventually([&] { return Scheduled(plane, ns, "second") == "Success"; }));
  CHECK(plane.Eventually([&] { return Used(plane, ns) == R"({"cpu":"600m"})"; }));
}

TEST_CASE("The sum is exact, and never more than the limit, when bindings come together",
          "[sandbox]") {
  ControlPlane plane(Enforced());
  const std::string ns = plane.UniqueNamespace("crowd");
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.Apply("host", In(ns, kTeamYaml));
  plane.Apply("host", In(ns, kPolicyYaml));
  constexpr int kWorkloads = 15;
  for (int i = 0; i < kWorkloads; ++i) {
    plane.Apply("host", In(ns, Workload(absl::StrCat("w", i), 1, "100m")));
  }
  const auto placed = [&] {
    int count = 0;
    for (int i = 0; i < kWorkloads; ++i) {
      const std::string reason = Scheduled(plane, ns, absl::StrCat("w", i));
      if (reason == "Success") ++count;
      if (reason != "Success" && reason != "QuotaExceeded") return -1;
    }
    return count;
  };
  CHECK(plane.Eventually([&] { return placed() == 10 && Used(plane, ns) == R"({"cpu":"1"})"; }));
  for (int i = 0; i < kWorkloads; ++i) {
    plane.Delete("host", kDeployment, {ns, absl::StrCat("w", i)});
  }
  CHECK(plane.Eventually([&] { return Used(plane, ns) == "null"; }));
}

TEST_CASE("A quota over what nobody can request gets an event", "[sandbox]") {
  ControlPlane plane(Enforced());
  const std::string ns = plane.UniqueNamespace("odd");
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.AwaitDaemon(ns);
  plane.Apply("host", In(ns, R"(
apiVersion: policy.karmada.io/v1alpha1
kind: FederatedResourceQuota
metadata: {name: team, namespace: $NS}
spec: {overall: {requests.cpu: "1", cpu: "-1"}}
)"));
  CHECK(plane.Eventually([&] {
    const std::string events = plane.EventsOn(kFederatedQuota, "team");
    return absl::StrContains(events,
                             "Warning ResourceNotCounted: spec.overall limits requests.cpu,") &&
           absl::StrContains(
               events, "Warning CollectOverallStatusFailed: spec.overall: cpu: -1 is negative");
  }));
}

TEST_CASE("The event about a limit without effect comes at a start, too, and is not repeated",
          "[sandbox]") {
  ControlPlane plane(Enforced());
  const std::string ns = plane.UniqueNamespace("earlier");
  plane.StopDaemon();
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.Apply("host", In(ns, R"(
apiVersion: policy.karmada.io/v1alpha1
kind: FederatedResourceQuota
metadata: {name: team, namespace: $NS}
spec: {overall: {pods: "40"}}
)"));
  const auto reports = [&] {
    const std::vector<std::string> events =
        absl::StrSplit(plane.EventsOn(kFederatedQuota, "team"), '\n');
    return std::count_if(events.begin(), events.end(), [](const std::string& event) {
      return absl::StartsWith(event, "Warning ResourceNotCounted: spec.overall limits pods,");
    });
  };
  plane.StartDaemon();
  REQUIRE(plane.Eventually([&] { return reports() == 1; }));
  plane.StopDaemon();
  plane.StartDaemon();
  plane.AwaitDaemon(ns);
  CHECK(plane.Always([&] { return reports() == 1; }));
}

}  // namespace tests
