// With --success-events=upstream every success that upstream reports is an event, once per change.
#include <map>
#include <set>
#include <string>

#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/names.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

constexpr char kPolicyYaml[] = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web, namespace: $NS}
spec:
  propagateDeps: true
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web}]
  placement: {clusterAffinity: {clusterNames: [member1]}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: tier, namespace: $NS}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web}]
  overrideRules:
  - overriders: {labelsOverrider: [{operator: add, value: {tier: gold}}]}
)";

// What the daemon does for it shows that it has taken up its work after a restart.
constexpr char kLaterYaml[] = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: later, namespace: $NS}
spec:
  resourceSelectors: [{apiVersion: v1, kind: Secret, name: later}]
  placement: {clusterAffinity: {clusterNames: [member1]}}
---
apiVersion: v1
kind: Secret
metadata: {name: later, namespace: $NS}
)";

constexpr char kPod[] = R"({
      containers: [{name: main, image: "nginx:1.25"}],
      volumes: [{name: settings, configMap: {name: settings}}]})";

// What upstream v1.18.2's controller manager reports of such an application.
const std::set<std::string> kUpstream = {
    "ConfigMap SyncSucceed",
    "ConfigMap SyncWorkSucceed",
    "Deployment AggregateStatusSucceed",
    "Deployment ApplyOverridePolicySucceed",
    "Deployment ApplyPolicySucceed",
    "Deployment GetDependenciesSucceed",
    "Deployment GetReplicasSucceed",
    "Deployment SyncSucceed",
    "Deployment SyncWorkSucceed",
    "ResourceBinding AggregateStatusSucceed",
    "ResourceBinding SyncScheduleResultToDependenciesSucceed",
    "ResourceBinding SyncWorkSucceed",
    "Work InterpretHealthSucceed",
    "Work ReflectStatusSucceed",
    "Work SyncSucceed",
    "Work WorkDispatching",
};

struct Application {
  ControlPlane plane{{.daemon_flags = {"--success-events=upstream"}}};
  const std::string ns = plane.UniqueNamespace("events");
  // The names of the application's objects, bindings and Works.
  const std::set<std::string> names = {"web",
                                       "web-deployment",
                                       "settings",
                                       "settings-configmap",
                                       api::WorkName("Deployment", "web", ns),
                                       api::WorkName("ConfigMap", "settings", ns)};

  // Returns how often each success of the application was reported, by "Kind Reason".
  std::map<std::string, int64_t> Counts() {
    std::map<std::string, int64_t> counts;
    for (const std::string& in : {ns, api::ExecutionNamespace("member1")}) {
      const kube::Resource events{{"", "v1", "Event"}, "events", true};
      const auto page = plane.client("host").ListAll(events, in, {}, {});
      REQUIRE(page.ok());
      for (const kube::Object& event : page->items) {
        const json::Value& about = event.Get({"involvedObject"});
        if (!names.contains(about["name"].ToString()) || event.Get({"type"}) != "Normal" ||
            event.Get({"source", "component"}) == "default-scheduler") {
          continue;
        }
        counts[absl::StrCat(about["kind"].AsString(), " ", event.Get({"reason"}).AsString())] +=
            event.Get({"count"}).AsInt();
      }
    }
    return counts;
  }
  std::set<std::string> Kinds() {
    std::set<std::string> kinds;
    for (const auto& [kind, count] : Counts()) kinds.insert(kind);
    return kinds;
  }
  std::string Text() { return absl::StrJoin(Counts(), "\n", absl::PairFormatter(" ")); }
  bool IsReady() {
    const auto web = plane.Get("host", kDeployment, {ns, "web"});
    return web.has_value() && web->status()["readyReplicas"].AsInt() == 1;
  }
};

}  // namespace

TEST_CASE_METHOD(Application, "With --success-events=upstream each success is an event, once") {
  for (const std::string& yaml : {std::string(kNamespaceYaml), std::string(kPolicyYaml),
                                  Settings("v"), Deployment("web", 1, kPod)}) {
    plane.Apply("host", In(ns, yaml));
  }
  CHECK(plane.Eventually([&] { return Kinds() == kUpstream && IsReady(); }));
  INFO(Text());
  CHECK(Kinds() == kUpstream);

  REQUIRE(plane.Settles([&] { return Text(); }));
  const std::string before = Text();
  plane.StopDaemon();
  plane.StartDaemon();
  plane.Apply("host", In(ns, kLaterYaml));
  REQUIRE(plane.Eventually([&] { return plane.Exists("member1", kSecret, {ns, "later"}); }));
  CHECK(plane.Always([&] { return Text() == before; }));
}

}  // namespace tests
