// A cluster in Pull mode beside the two push ones. Its agent applies its Works, reports its status
// and takes the finalizers off; the controller manager writes the Works, and does none of that in
// the agent's stead. The test is the agent, and does what it does step by step.
#include <optional>
#include <string>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "api/keys.h"
#include "api/names.h"
#include "kube/meta/object.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

const kube::Gvk kLease{"coordination.k8s.io", "v1", "Lease"};

constexpr char kWebEverywhere[] = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web, namespace: $NS}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web}]
  placement: {clusterAffinity: {clusterNames: [member1, $NS-far]}}
)";

struct Pulled {
  ControlPlane plane;
  const std::string ns;
  const std::string far = absl::StrCat(ns, "-far");  // The cluster, and its address is nowhere.
  const kube::ObjectKey web = {api::ExecutionNamespace(far),
                               api::WorkName("Deployment", "web", ns)};
  const kube::ObjectKey binding = {ns, "web-deployment"};

  explicit Pulled(std::vector<std::string> flags = {})
      : plane({.daemon_flags = std::move(flags)}), ns(plane.UniqueNamespace("pull")) {
    plane.Apply("host", In(ns, kNamespaceYaml));
    plane.Apply("host", In(ns, R"(
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: $NS-far}
spec: {syncMode: Pull, apiEndpoint: "https://192.0.2.1:6443"}
)"));
  }
  ~Pulled() {
    // A control plane that goes on has no cluster left of this test. Works of one that is not ready
    // are given up.
    if (!plane.Exists("host", kCluster, {"", far})) return;
    Report("False");
    plane.Delete("host", kCluster, {"", far});
    plane.Eventually([&] { return !plane.Exists("host", kCluster, {"", far}); });
  }

  void Patch(const kube::Gvk& gvk, const kube::ObjectKey& key, const std::string& patch,
             const std::string& subresource) {
    plane.Patch("host", gvk, key, patch, subresource);
  }
  // What the agent reports, in the order in which it does.
  void ReportReady() { Report("True"); }
  void Report(const std::string& ready) {
    const std::string now = kube::FormatTime(absl::Now());
    plane.Apply("host", absl::Substitute(R"(
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: $0, namespace: karmada-cluster}
spec: {holderIdentity: agent, renewTime: "$1"}
)",
                                         far,
                                         absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", absl::Now(),
                                                          absl::UTCTimeZone())));
    Patch(kCluster, {"", far},
          absl::Substitute(R"({"status": {
  "kubernetesVersion": "v1.36.0",
  "conditions": [
    {"type": "Ready", "status": "$1", "reason": "ClusterReady", "message": "",
     "lastTransitionTime": "$0"},
    {"type": "CompleteAPIEnablements", "status": "True", "reason": "Complete", "message": "",
     "lastTransitionTime": "$0"}],
  "apiEnablements": [
    {"groupVersion": "apps/v1", "resources": [{"name": "deployments", "kind": "Deployment"}]},
    {"groupVersion": "v1", "resources": [{"name": "namespaces", "kind": "Namespace"}]}]}})",
                           now, ready),
          "status");
  }
  void ReportApplied() {
    Patch(kWork, web,
          absl::Substitute(R"({"status": {
  "conditions": [{"type": "Applied", "status": "True", "reason": "AppliedSuccessful",
                  "message": "by the agent", "lastTransitionTime": "$0"}],
  "manifestStatuses": [{
    "health": "Healthy",
    "identifier": {"ordinal": 0, "group": "apps", "version": "v1", "kind": "Deployment",
                   "resource": "deployments", "namespace": "$1", "name": "web"},
    "status": {"replicas": 2, "readyReplicas": 2, "updatedReplicas": 2, "availableReplicas": 2,
               "observedGeneration": 1}}]}})",
                           kube::FormatTime(absl::Now()), ns),
          "status");
  }

  std::optional<kube::Object> Work() { return plane.Get("host", kWork, web); }
  std::string StatusInBinding() {
    const auto found = plane.Get("host", kBinding, binding);
    return found ? json::Write(found->status()["aggregatedStatus"]) : "";
  }
  std::string ReadyStatus() {
    const auto cluster = plane.Get("host", kCluster, {"", far});
    return cluster ? json::Write(cluster->status()["conditions"]) : "";
  }
  void PropagateWeb() {
    ReportReady();
    plane.Apply("host", In(ns, WebDeployment()));
    plane.Apply("host", In(ns, kWebEverywhere));
    REQUIRE(plane.Eventually([&] { return Work().has_value(); }));
    REQUIRE(plane.Eventually([&] { return plane.Exists("member1", kDeployment, {ns, "web"}); }));
  }
};

}  // namespace

TEST_CASE("A pull cluster's Works wait for its agent, whose report reaches binding and template") {
  Pulled s;
  CHECK(s.plane.Eventually([&] {
    return s.plane.Exists("host", kWork, {s.web.ns, api::WorkName("Namespace", s.ns, "")});
  }));
  s.PropagateWeb();

  // The push cluster is done; nobody has touched the other one's Work, nor said that it failed.
  CHECK(s.plane.Eventually([&] { return absl::StrContains(s.StatusInBinding(), "member1"); }));
  CHECK(s.plane.Always([&] { return s.Work()->status().is_null(); }));
  CHECK(s.Work()->HasFinalizer(api::kExecutionFinalizer));
  CHECK(s.plane.EventsOn(kWork, s.web.name).empty());
  CHECK_FALSE(absl::StrContains(s.plane.EventsOn(kDeployment, "web"), "to cluster " + s.far));
  CHECK_FALSE(absl::StrContains(s.plane.EventsOn(kCluster, s.far), "Failed"));

  s.ReportApplied();
  CHECK(s.plane.Eventually([&] { return absl::StrContains(s.StatusInBinding(), s.far); }));
  CHECK(s.plane.Eventually([&] {
    const auto web = s.plane.Get("host", kDeployment, {s.ns, "web"});
    return web->Get({"status", "replicas"}).AsInt() == 4;
  }));

  // An edit reaches the Work; what the agent reported stays until it reports again.
  s.Patch(kDeployment, {s.ns, "web"}, R"({"spec":{"replicas":3}})", "");
  CHECK(s.plane.Eventually(
      [&] { return absl::StrContains(json::Write(s.Work()->root()), R"("replicas":3)"); }));
  CHECK(absl::StrContains(json::Write(s.Work()->status()), "by the agent"));
}

TEST_CASE("A pull cluster's Work goes when its agent has taken its objects away, and not before") {
  Pulled s;
  s.PropagateWeb();
  s.plane.Delete("host", kDeployment, {s.ns, "web"});
  CHECK(s.plane.Eventually([&] { return !s.plane.Exists("member1", kDeployment, {s.ns, "web"}); }));
  REQUIRE(s.plane.Eventually([&] { return !s.Work() || s.Work()->IsDeleting(); }));
  CHECK(
      s.plane.Always([&] { return s.Work() && s.Work()->HasFinalizer(api::kExecutionFinalizer); }));
  s.Patch(kWork, s.web, R"({"metadata":{"finalizers":null}})", "");
  CHECK(s.plane.Eventually([&] { return !s.plane.Exists("host", kBinding, s.binding); }));
}

TEST_CASE("Deleted Works of a pull cluster stay away for karmadactl unregister, others come back") {
  Pulled s;
  s.PropagateWeb();
  const kube::ObjectKey of_namespace = {s.web.ns, api::WorkName("Namespace", s.ns, "")};
  REQUIRE(s.plane.Eventually([&] { return s.plane.Exists("host", kWork, of_namespace); }));
  for (const kube::ObjectKey& work : {s.web, of_namespace}) {
    s.plane.Delete("host", kWork, work);
    s.Patch(kWork, work, R"({"metadata":{"finalizers":null}})", "");
  }
  CHECK(s.plane.Always([&] {
    return !s.plane.Exists("host", kWork, s.web) && !s.plane.Exists("host", kWork, of_namespace);
  }));
  const kube::ObjectKey pushed = {api::ExecutionNamespace("member1"), s.web.name};
  const std::string uid(s.plane.Get("host", kWork, pushed)->uid());
  s.plane.Delete("host", kWork, pushed);
  CHECK(s.plane.Eventually([&] {
    const auto work = s.plane.Get("host", kWork, pushed);
    return work && work->uid() != uid;
  }));
}

TEST_CASE("A pull cluster whose agent falls silent is unknown, and ready again when it reports") {
  Pulled s({"--cluster-monitor-period=200ms", "--cluster-monitor-grace-period=3s"});
  s.ReportReady();
  CHECK(s.plane.Eventually([&] { return absl::StrContains(s.ReadyStatus(), "Unknown"); }));
  CHECK(absl::StrContains(s.ReadyStatus(), "ClusterStatusUnknown"));
  s.ReportReady();
  CHECK_FALSE(absl::StrContains(s.ReadyStatus(), "Unknown"));
}

TEST_CASE("A pull cluster that leaves waits for a live agent, and for a silent one no longer") {
  Pulled s({"--cluster-monitor-period=200ms", "--cluster-monitor-grace-period=6s"});
  s.PropagateWeb();
  s.ReportReady();
  s.plane.Delete("host", kCluster, {"", s.far});
  CHECK(s.plane.Eventually([&] { return !s.Work() || s.Work()->IsDeleting(); }));
  CHECK(s.plane.Exists("host", kCluster, {"", s.far}));
  CHECK((s.Work() && s.Work()->HasFinalizer(api::kExecutionFinalizer)));
  // Nothing was reported for six seconds.
  CHECK(s.plane.Eventually([&] { return !s.plane.Exists("host", kCluster, {"", s.far}); }));
}

}  // namespace tests
