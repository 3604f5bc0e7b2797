// Bindings over many clusters, and policies with many selectors.
#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "api/keys.h"
#include "api/names.h"
#include "sandbox/api_server.h"
#include "sandbox/fleet.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

constexpr int kClusters = 100;
constexpr char kRefusing[] = "far50";

std::string ClusterNamed(int i) { return absl::StrCat("far", i); }

// Makes clusters with agents, so that Works are all that is written for them. They are ready and
// serve ConfigMaps, as their agents would report.
void AddClusters(ControlPlane& plane) {
  for (int i = 0; i < kClusters; ++i) {
    const std::string name = ClusterNamed(i);
    plane.Apply("host", absl::StrCat(R"(
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {labels: {many: "yes"}, name: )",
                                     name, "}\nspec: {syncMode: Pull}\n"));
    plane.Patch("host", kCluster, {"", name}, R"({"status": {
        "conditions": [{"type": "Ready", "status": "True", "reason": "ClusterReady",
                        "lastTransitionTime": "2024-01-01T00:00:00Z", "message": ""}],
        "apiEnablements": [{"groupVersion": "v1",
                            "resources": [{"name": "configmaps", "kind": "ConfigMap"}]}]}})",
                "status");
  }
}

// Returns for how many clusters there is a Work whose settings have this value.
int WorksWith(ControlPlane& plane, const std::string& ns, const std::string& value) {
  int count = 0;
  for (int i = 0; i < kClusters; ++i) {
    const auto work = plane.Get(
        "host", kWork,
        {api::ExecutionNamespace(ClusterNamed(i)), api::WorkName("ConfigMap", "settings", ns)});
    if (!work) continue;
    const json::Value& manifest = work->Get({"spec", "workload", "manifests"}).At(0);
    if (manifest["data"]["k"].AsString() == value) ++count;
  }
  return count;
}

std::string ConfigMapNamed(const std::string& name) {
  return absl::StrCat("apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: $NS, name: ", name,
                      "}\n");
}

// Returns selectors of the ConfigMaps "c<first>" to "c<last>", in JSON.
std::string SelectorsOf(int first, int last) {
  json::Value selectors = json::Value::Array();
  for (int i = first; i <= last; ++i) {
    selectors.Append(json::Value::Object(
        {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"name", absl::StrCat("c", i)}}));
  }
  return json::Write(selectors);
}

}  // namespace

TEST_CASE("A binding over 100 clusters has a Work for each, also when one of them is refused",
          "[sandbox]") {
  ControlPlane plane({.members = 1,
                      .daemon_flags = {"--kube-api-qps=1000", "--kube-api-burst=2000",
                                       "--controllers=*,-namespace,-unifiedAuth",
                                       "--cluster-monitor-grace-period=1h"}});
  const std::string ns = plane.UniqueNamespace("many");
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.Apply("host", In(ns, Settings("first")));
  AddClusters(plane);
  REQUIRE(plane.Eventually([&] {
    for (int i = 0; i < kClusters; ++i) {
      if (!plane.AcceptsWork(ClusterNamed(i))) return false;
    }
    return true;
  }));
  plane.Apply("host", In(ns, R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: settings, namespace: $NS}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, name: settings}]
  placement: {clusterAffinity: {labelSelector: {matchLabels: {many: "yes"}}}}
)"));
  REQUIRE(plane.Eventually([&] { return WorksWith(plane, ns, "first") == kClusters; }));

  sandbox::Faults& faults = plane.fleet()->control_plane().faults();
  const std::string works =
      absl::StrCat("/namespaces/", api::ExecutionNamespace(kRefusing), "/works");
  faults.FailNext(100000, 403, "PATCH", works, "Forbidden", "not now");
  plane.Apply("host", In(ns, Settings("second")));
  CHECK(plane.Eventually([&] { return WorksWith(plane, ns, "second") == kClusters - 1; }));
  faults.Clear();
  CHECK(plane.Eventually([&] { return WorksWith(plane, ns, "second") == kClusters; }));
}

TEST_CASE("A policy with 10,000 selectors has what they name, and lets go of what they do not",
          "[sandbox]") {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("selectors");
  const auto claim = [&](const std::string& name) {
    return std::string(
        plane.Get("host", kConfigMap, {ns, name})->Label(api::kPropagationPolicyIdLabel));
  };
  plane.Apply("host", In(ns, kNamespaceYaml));
  for (const char* name : {"c0", "c9999", "c10000"})
    plane.Apply("host", In(ns, ConfigMapNamed(name)));
  plane.Apply("host", In(ns, absl::StrCat(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: many, namespace: $NS}
spec:
  placement: {clusterAffinity: {clusterNames: [member1]}}
  resourceSelectors: )",
                                          SelectorsOf(0, 9999), "\n")));
  REQUIRE(plane.Eventually([&] {
    return plane.Exists("member1", kConfigMap, {ns, "c0"}) &&
           plane.Exists("member1", kConfigMap, {ns, "c9999"});
  }));
  CHECK(plane.Always([&] { return claim("c10000").empty(); }));
  CHECK_FALSE(plane.Exists("member1", kConfigMap, {ns, "c10000"}));

  plane.Patch("host", kPolicy, {ns, "many"},
              absl::StrCat(R"({"spec": {"resourceSelectors": )", SelectorsOf(1, 10000), "}}"));
  CHECK(plane.Eventually([&] {
    return claim("c0").empty() && plane.Exists("member1", kConfigMap, {ns, "c10000"});
  }));
  CHECK_FALSE(claim("c9999").empty());
}

}  // namespace tests
