// Every switch of --controllers: when one controller is switched off, the others still do their
// part, and what the one does is not done.
#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "api/names.h"
#include "config/support.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

// How far a template has come.
enum class Reach { kNowhere, kBinding, kWork, kMembers, kStatusOfWork, kStatusOfTemplate };

Reach ReachOf(ControlPlane& plane, const std::string& ns) {
  if (!plane.Exists("host", kBinding, {ns, "web-deployment"})) return Reach::kNowhere;
  const auto work = plane.Get(
      "host", kWork, {api::ExecutionNamespace("member1"), api::WorkName("Deployment", "web", ns)});
  if (!work) return Reach::kBinding;
  if (!plane.Exists("member1", kDeployment, {ns, "web"})) return Reach::kWork;
  if (work->Get({"status", "manifestStatuses"}).At(0)["health"].AsString() != "Healthy") {
    return Reach::kMembers;
  }
  const auto web = plane.Get("host", kDeployment, {ns, "web"});
  return web && web->Get({"status", "readyReplicas"}).AsInt() == 2 ? Reach::kStatusOfTemplate
                                                                   : Reach::kStatusOfWork;
}

// The controllers without which a template comes only so far. A template comes all the way without
// any other one.
const std::map<std::string, Reach, std::less<>> kStops = {
    {"binding", Reach::kBinding},
    {"execution", Reach::kWork},
    {"workStatus", Reach::kMembers},
    {"bindingStatus", Reach::kStatusOfWork},
};

Reach ReachWithout(absl::string_view controller) {
  const auto found = kStops.find(controller);
  return found == kStops.end() ? Reach::kStatusOfTemplate : found->second;
}

void CheckWithout(ControlPlane& plane, const std::string& off) {
  CAPTURE(off);
  plane.StopDaemon();
  plane.StartDaemon({"--controllers=*,-" + off});
  const std::string ns = plane.UniqueNamespace("without");
  for (const char* cluster : {"host", "member1", "member2"}) {
    if (cluster != std::string("host") && off != "namespace") continue;
    plane.Apply(cluster, In(ns, kNamespaceYaml));
  }
  plane.Apply("host", In(ns, WebDeployment()));
  plane.Apply("host", In(ns, DividedPolicy(kWebSelector, 1, 1)));
  const Reach reach = ReachWithout(off);
  REQUIRE(plane.Eventually([&] { return ReachOf(plane, ns) == reach; }));
  CHECK(plane.Always([&] { return ReachOf(plane, ns) == reach; }));

  plane.Delete("host", kDeployment, {ns, "web"});
  if (reach < Reach::kMembers) return;
  CHECK(plane.Eventually([&] { return !plane.Exists("member1", kDeployment, {ns, "web"}); }));
}

// What a controller does for an object, so that everybody sees it: a field that is there
// afterwards. $NS stands for the namespace of the test.
struct Effect {
  const char* controller;
  const char* yaml;
  const char* cluster;
  kube::Gvk kind;
  kube::ObjectKey key;
  std::vector<std::string> field;
};

const kube::Gvk kQuota{"policy.karmada.io", "v1alpha1", "FederatedResourceQuota"};
const kube::Gvk kResourceQuota{"", "v1", "ResourceQuota"};
const kube::Gvk kRebalancer{"apps.karmada.io", "v1alpha1", "WorkloadRebalancer"};

// A controller that comes has a row here. Rows are switched on one after the other, so that a row
// may need what those above it do.
const Effect kEffects[] = {
    {"namespace", "", "member1", kNamespace, {"", "$NS"}, {"metadata", "uid"}},
    {"remedy",
     R"(
apiVersion: remedy.karmada.io/v1alpha1
kind: Remedy
metadata: {name: $NS}
spec: {actions: [TrafficControl]}
)",
     "host",
     kCluster,
     {"", "member1"},
     {"status", "remedyActions"}},
    {"federatedResourceQuotaSync",
     R"(
apiVersion: policy.karmada.io/v1alpha1
kind: FederatedResourceQuota
metadata: {name: quota, namespace: $NS}
spec:
  overall: {cpu: 100}
  staticAssignments: [{clusterName: member1, hard: {cpu: 50}}]
)",
     "member1",
     kResourceQuota,
     {"$NS", "quota"},
     {"spec", "hard"}},
    {"federatedResourceQuotaStatus", "", "host", kQuota, {"$NS", "quota"}, {"status", "overall"}},
    {"workloadRebalancer",
     R"(
apiVersion: apps.karmada.io/v1alpha1
kind: WorkloadRebalancer
metadata: {name: $NS}
spec: {workloads: [{apiVersion: apps/v1, kind: Deployment, namespace: $NS, name: absent}]}
)",
     "host",
     kRebalancer,
     {"", "$NS"},
     {"status", "observedWorkloads"}},
    {"clustertaintpolicy",  // With the gate Failover.
     R"(
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterTaintPolicy
metadata: {name: $NS}
spec:
  targetClusters: {clusterNames: [member2]}
  addOnConditions: [{conditionType: Ready, operator: In, statusValues: ["True"]}]
  taints: [{key: switched, effect: NoSchedule}]
)",
     "host",
     kCluster,
     {"", "member2"},
     {"spec", "taints"}},
};

bool IsDone(ControlPlane& plane, const Effect& effect, const std::string& ns) {
  const auto here = [&ns](const std::string& text) {
    return absl::StrReplaceAll(text, {{"$NS", ns}});
  };
  const auto object =
      plane.Get(effect.cluster, effect.kind, {here(effect.key.ns), here(effect.key.name)});
  if (!object.has_value()) return false;
  json::Value value = object->root();
  for (const std::string& name : effect.field) value = json::Value(value[name]);
  return value.is_string() || !value.empty();
}

std::string AllBut(const std::vector<std::string>& off) {
  std::string flag = "--controllers=*";
  for (const std::string& name : off) absl::StrAppend(&flag, ",-", name);
  return flag;
}

}  // namespace

// On the sandbox only: objects that wait for a controller which is off would stay on a real plane.
TEST_CASE("With one controller switched off, the others do their part", "[sandbox]") {
  ControlPlane plane;
  const std::string before = plane.UniqueNamespace("before");
  plane.Apply("host", In(before, kNamespaceYaml));
  plane.Apply("host", In(before, WebDeployment()));
  plane.Apply("host", In(before, DividedPolicy(kWebSelector, 1, 1)));
  REQUIRE(plane.Eventually([&] { return ReachOf(plane, before) == Reach::kStatusOfTemplate; }));
  int switched = 0;
  for (const config::ControllerSupport& controller : config::Controllers()) {
    if (controller.state != config::State::kHere) continue;
    CheckWithout(plane, std::string(controller.name));
    CHECK(ReachOf(plane, before) == Reach::kStatusOfTemplate);
    ++switched;
  }
  CHECK(switched >= 19);
  // The destructor stops the daemon and checks that it ends without an error.
}

TEST_CASE("What a controller that is switched off would do is not done by another", "[sandbox]") {
  const std::string failover = "--feature-gates=Failover=true";
  std::vector<std::string> off;
  for (const Effect& effect : kEffects) off.emplace_back(effect.controller);
  ControlPlane plane({.daemon_flags = {failover}});
  plane.StopDaemon();
  plane.StartDaemon({AllBut(off)});
  const std::string ns = plane.UniqueNamespace("effects");
  plane.Apply("host", In(ns, kNamespaceYaml));
  for (const Effect& effect : kEffects) {
    if (*effect.yaml != 0) plane.Apply("host", In(ns, effect.yaml));
  }
  for (const Effect& effect : kEffects) {
    const auto none = [&] {
      for (const Effect* later = &effect; later != std::end(kEffects); ++later) {
        if (IsDone(plane, *later, ns)) return false;
      }
      return true;
    };
    CAPTURE(effect.controller);
    CHECK(plane.Always(none));
    off.erase(off.begin());
    plane.StopDaemon();
    plane.StartDaemon({AllBut(off)});
    REQUIRE(plane.Eventually([&] { return IsDone(plane, effect, ns); }));
  }
}

TEST_CASE("Controllers that are off by default run only when they are named", "[sandbox]") {
  ControlPlane plane({.daemon_flags = {"--v=2"}});
  const auto running = [&plane] {
    const std::string log = plane.DaemonLog();
    const std::string line = log.substr(log.rfind("names of controllers"));
    return line.substr(0, line.find('\n'));
  };
  const auto await_daemon = [&plane] {
    const std::string ns = plane.UniqueNamespace("named");
    plane.Apply("host", In(ns, kNamespaceYaml));
    plane.AwaitDaemon(ns);
  };
  for (const char* name : {"deploymentReplicasSyncer", "hpaScaleTargetMarker"}) {
    CHECK_THAT(running(), !Catch::Contains(name));
    plane.StopDaemon();
    plane.StartDaemon({absl::StrCat("--controllers=*,", name)});
    await_daemon();
    CHECK_THAT(running(), Catch::Contains(name) && Catch::Contains("workStatus"));
    plane.StopDaemon();
    plane.StartDaemon({absl::StrCat("--controllers=", name, ",-", name)});  // The first one counts.
    REQUIRE(plane.Eventually([&] { return !absl::StrContains(running(), "workStatus"); }));
    CHECK_THAT(running(), Catch::Contains(name));
    plane.StopDaemon();
    plane.StartDaemon();
    await_daemon();
  }
}

}  // namespace tests
