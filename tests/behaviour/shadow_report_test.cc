// A shadow that ends by itself, on a plane with objects that fail for ever: what fails with the
// leader, too, does not keep it from ending, and is told from what fails with the shadow alone. On
// simulated servers only. The leader is this program, which shows failures as upstream's does.
#include <sys/stat.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "absl/time/time.h"
#include "api/names.h"
#include "base/files.h"
#include "base/json.h"
#include "sandbox/api_server.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/child_process.h"
#include "tests/support/control_plane.h"
#include "tests/support/temp_directory.h"

namespace tests {
namespace {

const kube::Gvk kService{"", "v1", "Service"};

constexpr char kBrokenScripts[] = R"(
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: broken-replicas}
spec:
  target: {apiVersion: apps/v1, kind: StatefulSet}
  customizations:
    replicaResource:
      luaScript: |
        function GetReplicas(obj)
          return obj.spec.missing.field
        end
---
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: broken-retention}
spec:
  target: {apiVersion: v1, kind: Service}
  customizations:
    retention:
      luaScript: |
        function Retain(desiredObj, observedObj)
          error("retention is broken")
        end
---
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: broken-sum}
spec:
  target: {apiVersion: apps/v1, kind: DaemonSet}
  customizations:
    statusAggregation:
      luaScript: |
        function AggregateStatus(desiredObj, statusItems)
          error("the sum is broken")
        end
)";

constexpr char kPods[] = R"({containers: [{name: c, image: "nginx:1.25"}]})";

std::string Service(int port) {
  return absl::Substitute(R"(
apiVersion: v1
kind: Service
metadata: {name: kept, namespace: $$NS}
spec: {selector: {app: kept}, ports: [{port: $0}]}
)",
                          port);
}

std::string PodsOf(const std::string& kind, const std::string& name) {
  return absl::Substitute(R"(
apiVersion: apps/v1
kind: $0
metadata: {name: $1, namespace: $$NS}
spec:
  selector: {matchLabels: {app: $1}}
  template: {metadata: {labels: {app: $1}}, spec: $2}
)",
                          kind, name, kPods);
}

struct FailingPlane {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("standing");
  TempDirectory directory;
  std::set<std::string> failing;  // What has to be listed, as "CONTROLLER KEY".

  void Host(const std::string& yaml) { plane.Apply("host", In(ns, yaml)); }
  void Map(const std::string& name, const std::string& value) {
    Host(
        absl::Substitute("{apiVersion: v1, kind: ConfigMap, metadata: {name: $0, namespace: $1}, "
                         "data: {k: $2}}",
                         name, ns, value));
  }
  void Propagate(const std::string& kind, const std::string& name, const std::string& cluster,
                 const std::string& more = "") {
    Host(absl::Substitute(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: $1, namespace: $3}
spec:
  resourceSelectors: [{$0, name: $1}]
  placement: {clusterAffinity: {clusterNames: [$2]}}$4
)",
                          kind, name, cluster, ns, more));
  }
  // Lets the API server of member1 refuse the creation of what has this name.
  void Refuse(const std::string& name, const std::string& why) {
    plane.fleet()->member("member1")->backend().AddAdmission(
        [name, why](const sandbox::AdmissionRequest& request, kube::Object& object) {
          const bool refuses = request.verb == sandbox::Verbs::kCreate && object.name() == name;
          return refuses ? absl::PermissionDeniedError(why) : absl::OkStatus();
        });
  }
  // Returns what the condition Applied of the Work of an object says.
  std::string Applied(const std::string& kind, const std::string& name, const std::string& cluster,
                      const std::string& in) {
    const auto work =
        plane.Get("host", kWork, {api::ExecutionNamespace(cluster), api::WorkName(kind, name, in)});
    const json::Value* applied =
        work ? kube::FindCondition(work->status()["conditions"], "Applied") : nullptr;
    return applied == nullptr ? "" : std::string((*applied)["status"].AsString());
  }
  void AwaitRefusal(const std::string& kind, const std::string& name, const std::string& in) {
    INFO(kind << " " << name);
    REQUIRE(plane.Eventually([&] { return Applied(kind, name, "member1", in) == "False"; }));
    failing.insert(absl::StrCat("execution-controller ", api::ExecutionNamespace("member1"), "/",
                                api::WorkName(kind, name, in)));
  }
  void AwaitEvent(const kube::Gvk& gvk, const std::string& name, const std::string& reason) {
    INFO(gvk.kind << " " << name);
    REQUIRE(plane.Eventually([&] { return absl::StrContains(plane.EventsOn(gvk, name), reason); }));
  }

  // Makes objects fail for ever, each for a reason of its own.
  void Break() {
    constexpr char kMaps[] = "apiVersion: v1, kind: ConfigMap";
    // A namespace and a Deployment that were in a member before.
    plane.Apply("member1", In(ns, kNamespaceYaml));
    plane.Apply("member1", In(ns, Deployment("before", 1, kPods)));
    Refuse("refused", "admission webhook \"no.example.com\" denied the request: no");
    Refuse("too-much", "secrets \"too-much\" is forbidden: exceeded quota: q");
    Host(kNamespaceYaml);
    Host(kBrokenScripts);
    Host(Deployment("before", 1, kPods));
    Propagate("apiVersion: apps/v1, kind: Deployment", "before", "member1");
    Map("refused", "v");
    Propagate(kMaps, "refused", "member1");
    Host("{apiVersion: v1, kind: Secret, metadata: {name: too-much, namespace: $NS}}");
    Propagate("apiVersion: v1, kind: Secret", "too-much", "member1");
    Map("overridden", "v");
    Propagate(kMaps, "overridden", "member1");
    Host(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: no-such-path, namespace: $NS}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, name: overridden}]
  overrideRules: [{overriders: {plaintext: [{path: /spec/a/b, operator: replace, value: x}]}}]
)");
    Map("depends", "v");
    Propagate(kMaps, "depends", "member1", "\n  dependentOverrides: [missing]");
    Host(PodsOf("StatefulSet", "no-replicas"));
    Propagate("apiVersion: apps/v1, kind: StatefulSet", "no-replicas", "member1");
    Host(PodsOf("DaemonSet", "no-sum"));
    Propagate("apiVersion: apps/v1, kind: DaemonSet", "no-sum", "member1");
    Host(Service(80));
    Propagate("apiVersion: v1, kind: Service", "kept", "member1");
    Host(Definition("Robot", "robots"));
    plane.Apply("member1", In(ns, Definition("Robot", "robots")));
    Host(kRobotYaml);
    Propagate(absl::StrCat("apiVersion: ", ns, ".example.io/v1, kind: Robot"), "one", "member1");
    const kube::Gvk robot = DefinedKind(ns, "Robot");
    REQUIRE(plane.Eventually([&] { return plane.Exists("member1", robot, {ns, "one"}); }));
    plane.Delete("member1", {"apiextensions.k8s.io", "v1", "CustomResourceDefinition"},
                 {"", absl::StrCat("robots.", ns, ".example.io")});
    plane.Patch("host", robot, {ns, "one"}, R"({"spec":{"arms":3}})");
    REQUIRE(plane.Eventually([&] { return plane.Exists("member1", kService, {ns, "kept"}); }));
    Host(Service(81));
    Map("away", "v");
    Propagate(kMaps, "away", "member2");
    REQUIRE(plane.Eventually([&] { return plane.Exists("member2", kConfigMap, {ns, "away"}); }));
    plane.fleet()->member("member2")->faults().SetPartitioned(true);
    Map("away", "w");

    AwaitRefusal("Namespace", ns, "");
    AwaitRefusal("Deployment", "before", ns);
    AwaitRefusal("ConfigMap", "refused", ns);
    AwaitRefusal("Secret", "too-much", ns);
    AwaitRefusal("Service", "kept", ns);
    AwaitRefusal("Robot", "one", ns);
    AwaitEvent(kConfigMap, "overridden", "ApplyOverridePolicyFailed");
    AwaitEvent(kConfigMap, "depends", "ApplyPolicyFailed");
    AwaitEvent({"apps", "v1", "StatefulSet"}, "no-replicas", "ApplyPolicyFailed");
    AwaitEvent({"apps", "v1", "DaemonSet"}, "no-sum", "AggregateStatusFailed");
    REQUIRE(plane.Eventually([&] { return !plane.AcceptsWork("member2"); }));
    failing.insert(absl::StrCat("binding-controller ", ns, "/overridden-configmap"));
    failing.insert(absl::StrCat("resource detector ConfigMap ", ns, "/depends"));
    failing.insert(absl::StrCat("resource detector StatefulSet ", ns, "/no-replicas"));
    failing.insert(absl::StrCat("resource-binding-status-controller ", ns, "/no-sum-daemonset"));
  }

  // Makes this number of ConfigMaps fail for ever with the leader, too: member1 had them before.
  void BreakMaps(int count) {
    plane.Apply("member1", In(ns, kNamespaceYaml));
    Host(kNamespaceYaml);
    for (int i = 0; i < count; ++i) {
      const std::string map = absl::Substitute(
          "{apiVersion: v1, kind: ConfigMap, metadata: {name: m$0, namespace: $1}}", i, ns);
      plane.Apply("member1", map);
      plane.Apply("host", map);
    }
    Host(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: maps, namespace: $NS}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]
  placement: {clusterAffinity: {clusterNames: [member1]}}
)");
    for (int i = 0; i < count; ++i) AwaitRefusal("ConfigMap", absl::StrCat("m", i), ns);
  }

  std::string ReportOf(const std::string& name) const {
    return absl::StrCat(directory.path(), "/", name, ".json");
  }
  std::string LogOf(const std::string& name) const {
    return base::ReadFile(absl::StrCat(directory.path(), "/", name, ".log")).value_or("");
  }
  std::unique_ptr<ChildProcess> StartShadow(const std::string& name) {
    const char* given = std::getenv("KARMADA_CONTROLLER_MANAGER");
    REQUIRE(plane.fleet()->WriteKubeconfigs(directory.path()).ok());
    return std::make_unique<ChildProcess>(
        std::vector<std::string>{
            given != nullptr ? given : KM_CONTROLLER_MANAGER, "--shadow",
            absl::StrCat("--shadow-report=", ReportOf(name)),
            absl::StrCat("--kubeconfig=", directory.path(), "/karmada.kubeconfig"),
            "--metrics-bind-address=0", "--health-probe-bind-address=0", "--v=2"},
        absl::StrCat(directory.path(), "/", name, ".log"));
  }
  struct Ended {
    int exit_code = -1;
    json::Value report;
  };
  // Stops the shadow if it has not ended, and reads its report.
  Ended End(ChildProcess& shadow, const std::string& name) {
    const int status = shadow.Stop();
    INFO(LogOf(name));
    REQUIRE(WIFEXITED(status));
    const auto text = base::ReadFile(ReportOf(name));
    REQUIRE(text.ok());
    return {WEXITSTATUS(status), json::Parse(*text).value_or(json::Value())};
  }
  // Runs a shadow until it has ended by itself.
  Ended RunShadow(const std::string& name) {
    const auto shadow = StartShadow(name);
    const bool ends = plane.Eventually([&] { return shadow->HasEnded(); }, absl::Minutes(8));
    INFO(LogOf(name));
    REQUIRE(ends);
    return End(*shadow, name);
  }
};

}  // namespace

TEST_CASE_METHOD(FailingPlane,
                 "A shadow beside a leader with standing failures ends, and tells them",
                 "[sandbox]") {
  Break();
  const Ended beside = RunShadow("beside");
  INFO(json::Write(beside.report));
  CHECK(beside.exit_code == 0);
  CHECK(beside.report["verdict"].AsString() == "same");
  CHECK(beside.report["rounds"].AsInt() > 0);
  CHECK(beside.report["failing"].AsInt() >= 8);
  CHECK(beside.report["failing"].AsInt() == beside.report["failingUpstream"].AsInt());
  CHECK(json::Write(beside.report["notCompared"]) == R"(["member2"])");
  CHECK(absl::StrContains(json::Write(beside.report["because"]),
                          "member2 is not compared: Cluster member2: Ready"));
  // The daemon of a control plane that ends with its test does not elect.
  CHECK(absl::StrContains(beside.report["noLeader"].AsString(), "there is no Lease"));
  std::set<std::string> listed;
  for (const json::Value& failure : beside.report["failures"].items()) {
    INFO(json::Write(failure));
    CHECK_FALSE(failure["upstream"].AsString().empty());
    CHECK_FALSE(failure["error"].AsString().empty());
    listed.insert(absl::StrCat(failure["controller"].AsString(), " ", failure["key"].AsString()));
  }
  for (const std::string& key : failing) {
    INFO(key);
    const bool is_write =
        absl::StrContains(key, "/refused-") || absl::StrContains(key, "/too-much-");
    CHECK((is_write || listed.contains(key)));
  }
  CHECK(failing.size() == 10);
  // What a member's API server refuses is no failure of a shadow, which does not ask it.
  bool refused = false;
  for (const json::Value& write : beside.report["writes"].items()) {
    INFO(json::Write(write));
    CHECK((!write["why"].AsString().empty() || !write["upstream"].AsString().empty()));
    refused = refused || (write["name"].AsString() == "refused" &&
                          absl::StrContains(write["upstream"].AsString(), "no.example.com"));
  }
  CHECK(refused);

  // Nobody propagates this one.
  plane.StopDaemon();
  Host(Settings("v"));
  Host(kSettingsPolicy);
  Host(R"(
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: karmada-controller-manager, namespace: karmada-system}
spec: {holderIdentity: gone, leaseDurationSeconds: 15, renewTime: "2020-01-01T00:00:00.000000Z"}
)");
  const Ended alone = RunShadow("alone");
  INFO(json::Write(alone.report));
  CHECK(alone.exit_code == 3);
  CHECK(alone.report["verdict"].AsString() == "different");
  CHECK(absl::StrContains(alone.report["because"].At(0).AsString(),
                          "would be made that the leader does not make"));
  CHECK(absl::StrContains(alone.report["noLeader"].AsString(),
                          "nobody leads as karmada-system/karmada-controller-manager"));
}

TEST_CASE_METHOD(FailingPlane, "What fails with a shadow alone is listed however much else fails",
                 "[sandbox]") {
  constexpr int kMaps = 210;  // More than a report lists.
  BreakMaps(kMaps);
  Host("{apiVersion: v1, kind: Secret, metadata: {name: key, namespace: $NS}}");
  Propagate("apiVersion: v1, kind: Secret", "key", "member1");
  REQUIRE(plane.Eventually([&] { return plane.Exists("member1", kSecret, {ns, "key"}); }));
  // The leader has its watch; a shadow that begins cannot list them.
  plane.fleet()->member("member1")->faults().FailNext(1'000'000, 403, "GET", "/secrets",
                                                      "Forbidden", "not for a shadow");
  const Ended ended = RunShadow("many");
  CHECK(ended.exit_code == 3);
  CHECK(absl::StrContains(json::Write(ended.report["because"]), "here, and neither"));
  CHECK(ended.report["failingUpstream"].AsInt() >= kMaps);
  REQUIRE(ended.report["failures"].size() > 0);
  const json::Value& first = ended.report["failures"].At(0);
  INFO(json::Write(first));
  CHECK(first["controller"].AsString() == "cache");
  CHECK(first["key"].AsString() == "member1 v1/secrets");
  CHECK(first["upstream"].AsString().empty());
}

TEST_CASE_METHOD(FailingPlane, "A shadow that is stopped leaves no report of an earlier one",
                 "[sandbox]") {
  const std::string report = ReportOf("stopped");
  std::ofstream(report) << R"({"verdict":"same"})";
  REQUIRE(chmod(report.c_str(), 0644) == 0);
  Host(kNamespaceYaml);
  Host(Settings("v"));
  Host(kSettingsPolicy);
  const auto shadow = StartShadow("stopped");
  // Its loops run.
  REQUIRE(plane.Eventually([&] { return absl::StrContains(LogOf("stopped"), "watching a kind"); }));
  const Ended ended = End(*shadow, "stopped");
  CHECK(ended.exit_code == 4);
  CHECK(ended.report["verdict"].AsString() == "undecided");
  CHECK(ended.report["because"].At(0).AsString() ==
        "the shadow was stopped before it had a verdict");
  CHECK(ended.report.Has("failures"));
  struct stat found = {};
  REQUIRE(stat(report.c_str(), &found) == 0);
  CHECK((found.st_mode & 0777) == 0600);
}

}  // namespace tests
