// With --success-events=upstream every success that upstream reports is an event, once per change.
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
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

// What one edit brings that changes no status: of a ConfigMap that a Deployment needs, and of the
// Deployment's labels. Each success once for each object that it is about, and nothing else.
const std::map<std::string, int64_t> kOfConfigEdit = {
    {"ConfigMap SyncSucceed", 1},
    {"ConfigMap SyncWorkSucceed", 1},
    {"ResourceBinding SyncWorkSucceed", 1},
    {"Work SyncSucceed", 1},
};
const std::map<std::string, int64_t> kOfLabelEdit = {
    {"Deployment ApplyOverridePolicySucceed", 1},
    {"Deployment ApplyPolicySucceed", 1},
    {"Deployment GetReplicasSucceed", 1},
    {"Deployment SyncSucceed", 1},
    {"Deployment SyncWorkSucceed", 1},
    {"ResourceBinding SyncWorkSucceed", 1},
    {"Work SyncSucceed", 1},
};
constexpr int kEdits = 3;

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
  // Returns how much more often than `before` each success has been reported.
  std::map<std::string, int64_t> Since(const std::map<std::string, int64_t>& before) {
    std::map<std::string, int64_t> more;
    for (const auto& [kind, count] : Counts()) {
      const auto earlier = before.find(kind);
      const int64_t old = earlier == before.end() ? 0 : earlier->second;
      if (count != old) more[kind] = count - old;
    }
    return more;
  }
  // Edits an object several times, each time after the edit before has been reported. Each edit has
  // to bring each of the successes as often as `expected` says, and no other. $0 in the patch
  // stands for the number of the edit.
  void EditAndCount(const kube::Gvk& gvk, const std::string& name, const std::string& patch,
                    const std::map<std::string, int64_t>& expected) {
    REQUIRE(plane.Settles([&] { return Text(); }, absl::Seconds(2)));
    const std::map<std::string, int64_t> before = Counts();
    std::map<std::string, int64_t> wanted;
    for (int edit = 1; edit <= kEdits; ++edit) {
      for (const auto& [kind, count] : expected) wanted[kind] += count;
      plane.Patch("host", gvk, {ns, name}, absl::Substitute(patch, edit));
      plane.Eventually([&] { return Since(before) == wanted; }, absl::Seconds(30));
      const bool counted = plane.Always([&] { return Since(before) == wanted; });
      INFO("after " << edit << " edits of " << name << ": "
                    << absl::StrJoin(Since(before), ", ", absl::PairFormatter(" ")));
      REQUIRE(counted);
    }
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

  EditAndCount(kConfigMap, "settings", R"({"data": {"k": "v$0"}})", kOfConfigEdit);
  // A label of another name would change the annotation that lists the names, and with it the
  // generation and the status in real members.
  EditAndCount(kDeployment, "web", R"({"metadata": {"labels": {"app": "v$0"}}})", kOfLabelEdit);

  const std::string before = Text();
  plane.StopDaemon();
  plane.StartDaemon();
  plane.AwaitDaemon(ns);
  CHECK(plane.Always([&] { return Text() == before; }));
}

}  // namespace tests
