// What is held back stays held back: edits of templates that no policy governs or that cannot
// follow theirs yet, changes of lazy policies, and what a suspended or deleted binding leaves in
// members.
#include <string>

#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "api/keys.h"
#include "api/names.h"
#include "sandbox/api_server.h"
#include "sandbox/fleet.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

std::string ConfigMap(const std::string& name, const std::string& value) {
  return absl::Substitute(R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: $0, namespace: $$NS}
data: {k: $1}
)",
                          name, value);
}

// Returns a policy for objects of a kind, of the name that the policy has. `more` are lines of its
// spec.
std::string PolicyFor(const std::string& name, const std::string& kind, const std::string& cluster,
                      const std::string& more = "") {
  return absl::Substitute(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: $0, namespace: $$NS}
spec:
  resourceSelectors: [{$1, name: $0}]
  placement: {clusterAffinity: {clusterNames: [$2]}}
  $3
)",
                          name, kind, cluster, more);
}

constexpr char kConfigMaps[] = "apiVersion: v1, kind: ConfigMap";
constexpr char kStatefulSets[] = "apiVersion: apps/v1, kind: StatefulSet";
constexpr char kLazy[] = "activationPreference: Lazy";

// Two ConfigMaps "held" and "witness" with their policies. What reaches the witness has had the
// time to reach the other one.
struct Held {
  ControlPlane plane;
  std::string ns;

  explicit Held(const std::string& stem, ControlPlane::Options options = {})
      : plane(std::move(options)), ns(plane.UniqueNamespace(stem)) {
    Apply(kNamespaceYaml);
    for (const char* name : {"held", "witness"}) {
      Apply(ConfigMap(name, "first"));
      Apply(PolicyFor(name, kConfigMaps, "member1"));
      REQUIRE(Reads(name, "first"));
    }
  }
  void Apply(const std::string& yaml) { plane.Apply("host", In(ns, yaml)); }
  // Returns "<value of k> <value of the label l>".
  std::string In1(const std::string& name) {
    const auto found = plane.Get("member1", kConfigMap, {ns, name});
    return found ? absl::StrCat(found->Get({"data", "k"}).ToString(), " ", found->Label("l")) : "-";
  }
  bool Reads(const std::string& name, const std::string& value, const std::string& label = "") {
    return plane.Eventually([&] { return In1(name) == absl::StrCat(value, " ", label); });
  }
  bool Stays(const std::string& name, const std::string& value, const std::string& label = "") {
    return plane.Always([&] { return In1(name) == absl::StrCat(value, " ", label); });
  }
  // Applies an override of both ConfigMaps, and waits until the witness has it.
  void Override(const std::string& policy, const std::string& label) {
    Apply(absl::Substitute(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: $0, namespace: $$NS}
spec:
  resourceSelectors:
  - {apiVersion: v1, kind: ConfigMap, name: held}
  - {apiVersion: v1, kind: ConfigMap, name: witness}
  overrideRules: [{overriders: {labelsOverrider: [{operator: add, value: {l: $1}}]}}]
)",
                           policy, label));
    REQUIRE(Reads("witness", "first", label));
  }
  void Restart() {
    plane.StopDaemon();
    plane.StartDaemon();
    plane.AwaitDaemon(ns);
  }
  bool IsBound(const std::string& name, const std::string& kind) {
    return plane.Exists("host", kBinding, {ns, absl::StrCat(name, "-", kind)});
  }
};

std::string StatefulSet(const std::string& name, int replicas) {
  return absl::Substitute(R"(
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: $0, namespace: $$NS}
spec:
  replicas: $1
  serviceName: $0
  selector: {matchLabels: {app: $0}}
  template:
    metadata: {labels: {app: $0}}
    spec: {containers: [{name: main, image: "nginx:1.25"}]}
)",
                          name, replicas);
}

}  // namespace

TEST_CASE("Members keep a template that its policy has released, whatever happens around it",
          "[pull]") {
  Held held("released");
  held.plane.Delete("host", kPolicy, {held.ns, "held"});
  REQUIRE(held.plane.Eventually([&] {
    return held.plane.EventsOn(kConfigMap, "held").find("PolicyReleased") != std::string::npos;
  }));
  held.Apply(ConfigMap("held", "second"));
  held.Override("o", "x");
  CHECK(held.Stays("held", "first"));
  held.Restart();
  CHECK(held.Stays("held", "first"));
  // A policy takes it over as it is then.
  held.Apply(PolicyFor("held", kConfigMaps, "member1"));
  CHECK(held.Reads("held", "second", "x"));
}

// The manifests of a cluster that returns from an outage, in which the scheduler has taken it out
// of the binding, and has chosen it again.
TEST_CASE("A cluster that returns from an outage keeps a template that its policy has released",
          "[sandbox]") {
  Held held("returned",
            {.daemon_flags = {"--cluster-failure-threshold=2s", "--cluster-success-threshold=2s",
                              "--cluster-status-update-frequency=1s"}});
  ControlPlane& plane = held.plane;
  const kube::ObjectKey key{held.ns, "held"};
  const std::string uid(plane.Get("member1", kConfigMap, key)->uid());
  plane.fleet()->member("member1")->faults().SetPartitioned(true);
  REQUIRE(plane.Eventually([&] {
    const auto cluster = plane.Get("host", kCluster, {"", "member1"});
    return !kube::IsConditionTrue(cluster->status()["conditions"], "Ready");
  }));
  held.Apply(PolicyFor("held", kConfigMaps, "member2"));
  const kube::ObjectKey work{"karmada-es-member1", api::WorkName("ConfigMap", "held", held.ns)};
  REQUIRE(plane.Eventually([&] {
    const auto found = plane.Get("host", kWork, work);
    return found && found->IsDeleting() && plane.Exists("member2", kConfigMap, key);
  }));
  plane.Delete("host", kPolicy, key);
  REQUIRE(plane.Eventually([&] {
    return plane.EventsOn(kConfigMap, "held").find("PolicyReleased") != std::string::npos;
  }));
  held.Apply(ConfigMap("held", "second"));
  plane.Patch("host", kBinding, {held.ns, "held-configmap"},
              R"({"spec": {"clusters": [{"name": "member1"}, {"name": "member2"}]}})");
  plane.fleet()->member("member1")->faults().SetPartitioned(false);
  REQUIRE(plane.Eventually([&] {
    const auto found = plane.Get("host", kWork, work);
    return found && !found->IsDeleting() &&
           kube::IsConditionTrue(found->status()["conditions"], "Applied");
  }));
  CHECK(held.Stays("held", "first"));
  CHECK(plane.Get("member1", kConfigMap, key)->uid() == uid);
  CHECK(plane.EventsOn(kConfigMap, "held").find("HeldBackTemplateUsed") == std::string::npos);
  // It goes on following its template once a policy lets that pass.
  held.Apply(PolicyFor("held", kConfigMaps, "member1"));
  CHECK(held.Reads("held", "second"));
  CHECK(plane.Get("member1", kConfigMap, key)->uid() == uid);
}

namespace {

// A Deployment in member1 with the ConfigMap from which it takes its environment.
struct HeldWithNeeds : Held {
  explicit HeldWithNeeds(const std::string& stem) : Held(stem) {
    for (const char* name : {"ca", "cb"}) Apply(ConfigMap(name, "first"));
    Edit("ca");
    Apply(Policy());
    REQUIRE(plane.Eventually([&] { return Uses("member1") == "ca" && Has("member1", "ca"); }));
  }
  static std::string Policy(const std::string& more = "") {
    return PolicyFor("web", "apiVersion: apps/v1, kind: Deployment", "member1",
                     absl::StrCat("propagateDeps: true\n  ", more));
  }
  void Edit(const std::string& needed) {
    Apply(Deployment(
        "web", 1,
        absl::Substitute(
            R"({containers: [{name: main, image: "nginx:1", envFrom: [{configMapRef: {name: $0}}]}]})",
            needed)));
  }
  std::string Uses(const std::string& member) {
    const auto web = plane.Get(member, kDeployment, {ns, "web"});
    if (!web) return "-";
    const json::Value& main = web->Get({"spec", "template", "spec", "containers"}).At(0);
    return main["envFrom"].At(0)["configMapRef"]["name"].ToString();
  }
  bool Has(const std::string& member, const std::string& name) {
    return plane.Exists(member, kConfigMap, {ns, name});
  }
  bool Keeps() {
    return plane.Always(
        [&] { return Uses("member1") == "ca" && Has("member1", "ca") && !Has("member1", "cb"); });
  }
  bool Follows() {
    return plane.Eventually(
        [&] { return Uses("member1") == "cb" && !Has("member1", "ca") && Has("member1", "cb"); });
  }
};

}  // namespace

TEST_CASE("What a workload needs stays in the member while an edit of the workload is held back") {
  HeldWithNeeds held("needs");
  held.Apply(HeldWithNeeds::Policy("dependentOverrides: [later]"));
  held.Edit("cb");
  REQUIRE(held.plane.Eventually([&] {
    return held.plane.EventsOn(kDeployment, "web").find("ApplyPolicyFailed") != std::string::npos;
  }));
  held.Restart();
  CHECK(held.Keeps());
  held.Apply(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: later, namespace: $NS}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web}]
  overrideRules: [{overriders: {labelsOverrider: [{operator: add, value: {other: z}}]}}]
)");
  CHECK(held.Follows());
}

TEST_CASE("What a workload needs stays in the member when its policy has released the workload") {
  HeldWithNeeds held("spared");
  held.plane.Delete("host", kPolicy, {held.ns, "web"});
  REQUIRE(held.plane.Eventually([&] {
    return held.plane.EventsOn(kDeployment, "web").find("PolicyReleased") != std::string::npos;
  }));
  held.Edit("cb");
  const auto place = [&](const char* clusters) {
    held.plane.Patch("host", kBinding, {held.ns, "web-deployment"},
                     absl::Substitute(R"({"spec": {"clusters": [$0]}})", clusters));
  };
  place(R"({"name": "member1", "replicas": 2})");
  REQUIRE(held.plane.Eventually([&] {
    return held.plane.Get("member1", kDeployment, {held.ns, "web"})->spec()["replicas"].AsInt() ==
           2;
  }));
  CHECK(held.Keeps());
  held.Restart();
  CHECK(held.Keeps());
  // A cluster that did not have the workload gets it as it is, with what it needs then.
  place(R"({"name": "member1", "replicas": 2}, {"name": "member2", "replicas": 1})");
  CHECK(held.plane.Eventually(
      [&] { return held.Uses("member2") == "cb" && held.Has("member2", "cb"); }));
  CHECK(
      held.plane.Always([&] { return held.Uses("member1") == "ca" && held.Has("member1", "ca"); }));
  held.Apply(HeldWithNeeds::Policy());
  CHECK(held.Follows());
}

TEST_CASE("An edit that waits for an override reaches no member before it", "[pull]") {
  Held held("blocked");
  held.Apply(PolicyFor("held", kConfigMaps, "member1", "dependentOverrides: [later]"));
  held.Apply(ConfigMap("held", "second"));
  REQUIRE(held.plane.Eventually([&] {
    return held.plane.EventsOn(kConfigMap, "held").find("ApplyPolicyFailed") != std::string::npos;
  }));
  held.Override("o", "x");
  CHECK(held.Stays("held", "first"));
  held.Restart();
  CHECK(held.Stays("held", "first"));
  held.Apply(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: later, namespace: $NS}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, name: held}]
  overrideRules: [{overriders: {labelsOverrider: [{operator: add, value: {other: z}}]}}]
)");
  CHECK(held.Reads("held", "second", "x"));
}

TEST_CASE("The first lazy policy of a kind waits for an edit, as every other one does") {
  Held held("lazy", {.daemon_flags = {"--resync-period=1s"}});
  for (const char* name : {"one", "two"}) {
    held.Apply(StatefulSet(name, 1));
    held.Apply(PolicyFor(name, kStatefulSets, "member1", kLazy));
    CHECK(held.plane.Always([&] { return !held.IsBound(name, "statefulset"); }, absl::Seconds(3)));
  }
  held.Restart();
  CHECK(held.plane.Always([&] { return !held.IsBound("one", "statefulset"); }));
  held.Apply(StatefulSet("one", 2));
  CHECK(held.plane.Eventually([&] { return held.IsBound("one", "statefulset"); }));
  // A binding that somebody deletes is made again: its state has passed.
  const auto uid = [&] {
    const auto binding = held.plane.Get("host", kBinding, {held.ns, "one-statefulset"});
    return binding ? std::string(binding->uid()) : "";
  };
  const std::string before = uid();
  held.plane.Delete("host", kBinding, {held.ns, "one-statefulset"});
  CHECK(held.plane.Eventually([&] { return !uid().empty() && uid() != before; }));
  // One that is created after the policy is bound at once.
  held.Apply(PolicyFor("three", kStatefulSets, "member1", kLazy));
  held.Apply(StatefulSet("three", 1));
  CHECK(held.plane.Eventually([&] { return held.IsBound("three", "statefulset"); }));
  CHECK_FALSE(held.IsBound("two", "statefulset"));
}

TEST_CASE("A restart does not move what a lazy policy holds back, an edit meanwhile does") {
  Held held("pending");
  held.Apply(PolicyFor("held", kConfigMaps, "member2", kLazy));
  const kube::ObjectKey key{held.ns, "held"};
  const auto in_member2 = [&] { return held.plane.Exists("member2", kConfigMap, key); };
  held.Restart();
  CHECK(held.Stays("held", "first"));
  CHECK_FALSE(in_member2());
  held.plane.StopDaemon();
  held.Apply(ConfigMap("held", "second"));
  held.plane.StartDaemon();
  CHECK(held.plane.Eventually(in_member2));
  CHECK(held.plane.Eventually([&] { return !held.plane.Exists("member1", kConfigMap, key); }));
}

TEST_CASE("A binding that is set back to an earlier state of its template holds nothing back") {
  Held held("set-back");
  const kube::ObjectKey key{held.ns, "held-configmap"};
  const auto earlier = held.plane.Get("host", kBinding, key);
  REQUIRE(earlier.has_value());
  held.Apply(ConfigMap("held", "second"));
  REQUIRE(held.Reads("held", "second"));
  held.plane.Patch(
      "host", kBinding, key,
      absl::Substitute(R"({"metadata": {"annotations": {"$0": "$1"}},
                                        "spec": {"resource": {"resourceVersion": "$2"}}})",
                       api::kPassedTemplateAnnotation,
                       earlier->Annotation(api::kPassedTemplateAnnotation),
                       earlier->Get({"spec", "resource", "resourceVersion"}).ToString()));
  held.Override("o", "x");
  CHECK(held.Reads("held", "second", "x"));
}

TEST_CASE("A lazy policy takes no override of upstream's Works for an edit") {
  Held held("lazy-override");
  held.Override("o", "x");
  REQUIRE(held.Reads("held", "first", "x"));
  held.Apply(PolicyFor("held", kConfigMaps, "member1", kLazy));
  held.plane.StopDaemon();
  // As upstream leaves it: without a record, and the template has moved since with its claim.
  const kube::ObjectKey key{held.ns, "held-configmap"};
  held.plane.Patch("host", kBinding, key,
                   absl::Substitute(R"({"metadata": {"annotations": {"$0": null}},
                                        "spec": {"resource": {"resourceVersion": "1"}}})",
                                    api::kPassedTemplateAnnotation));
  held.Apply(PolicyFor("held", kConfigMaps, "member2", kLazy));
  held.plane.StartDaemon();
  held.plane.AwaitDaemon(held.ns);
  CHECK(held.Stays("held", "first", "x"));
  CHECK_FALSE(held.plane.Exists("member2", kConfigMap, {held.ns, "held"}));
  held.Apply(ConfigMap("held", "second"));
  CHECK(held.plane.Eventually([&] {
    return held.plane.Exists("member2", kConfigMap, {held.ns, "held"});
  }));
}

TEST_CASE("A take-over from upstream writes no records, and an edit before it lands") {
  Held held("adopted");
  held.Apply(Deployment("web", 1, R"({containers: [{name: main, image: "nginx:1.25"}]})"));
  held.Apply(PolicyFor("web", "apiVersion: apps/v1, kind: Deployment", "member1"));
  const kube::ObjectKey web{held.ns, "web"};
  // Its status comes after its binding, which records an earlier version.
  REQUIRE(held.plane.Eventually([&] {
    const auto found = held.plane.Get("host", kDeployment, web);
    return found && found->status()["readyReplicas"].AsInt() == 1;
  }));
  held.plane.StopDaemon();
  for (const char* name : {"web-deployment", "held-configmap", "witness-configmap"}) {
    held.plane.Patch("host", kBinding, {held.ns, name},
                     absl::Substitute(R"({"metadata":{"annotations":{"$0":null}}})",
                                      api::kPassedTemplateAnnotation));
  }
  held.Apply(ConfigMap("held", "second"));
  held.plane.StartDaemon();
  held.plane.AwaitDaemon(held.ns);
  CHECK(held.Reads("held", "second"));
  const auto has_record = [&](const std::string& name) {
    const auto binding = held.plane.Get("host", kBinding, {held.ns, name});
    return binding && !binding->Annotation(api::kPassedTemplateAnnotation).empty();
  };
  CHECK(has_record("held-configmap"));
  CHECK(held.plane.Always(
      [&] { return !has_record("web-deployment") && !has_record("witness-configmap"); }));
}

TEST_CASE("Objects stay if their policy said so before their template was deleted, also meanwhile",
          "[pull]") {
  Held held("preserved");
  held.plane.StopDaemon();
  held.Apply(PolicyFor("held", kConfigMaps, "member1", "preserveResourcesOnDeletion: true"));
  for (const char* name : {"held", "witness"}) {
    held.plane.Delete("host", kConfigMap, {held.ns, name});
  }
  held.plane.StartDaemon();
  CHECK(held.plane.Eventually([&] {
    return !held.plane.Exists("member1", kConfigMap, {held.ns, "witness"});
  }));
  CHECK(held.plane.Eventually([&] { return !held.IsBound("held", "configmap"); }));
  CHECK(held.Stays("held", "first"));
}

TEST_CASE("A cluster to which dispatching is suspended keeps what a scale-down takes out of it",
          "[pull]") {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("suspended");
  const kube::ObjectKey web{ns, "web"};
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.Apply("host", In(ns, WebDeployment()));
  plane.Apply("host", In(ns, DividedPolicy(kWebSelector, 1, 1)));
  const auto replicas = [&](const char* member) -> int64_t {
    const auto found = plane.Get(member, kDeployment, web);
    return found ? found->spec()["replicas"].AsInt() : 0;
  };
  REQUIRE(plane.Eventually([&] { return replicas("member1") == 1 && replicas("member2") == 1; }));
  plane.Patch("host", kPolicy, {ns, "divided"}, R"({"spec":{"suspension":
      {"dispatchingOnClusters":{"clusterNames":["member1","member2"]}}}})");
  const auto clusters = [&] {
    const auto binding = plane.Get("host", kBinding, {ns, "web-deployment"});
    return binding ? binding->spec()["clusters"].size() : 0;
  };
  const auto is_suspended = [&] {
    const auto binding = plane.Get("host", kBinding, {ns, "web-deployment"});
    return binding && !binding->spec()["suspension"].empty();
  };
  REQUIRE(plane.Eventually(is_suspended));
  plane.Patch("host", kDeployment, web, R"({"spec":{"replicas":1}})");
  REQUIRE(plane.Eventually([&] { return clusters() == 1; }));
  const auto reported = [&] {
    return plane.EventsOn(kBinding, "web-deployment").find("SuspendedWorkKept") !=
           std::string::npos;
  };
  CHECK(plane.Eventually(reported));
  CHECK(plane.Always([&] { return replicas("member1") == 1 && replicas("member2") == 1; }));
  // What is kept does not count: whoever waits for the binding would wait for ever.
  CHECK(plane.Eventually([&] {
    const auto binding = plane.Get("host", kBinding, {ns, "web-deployment"});
    return binding && binding->status()["aggregatedStatus"].size() == 1 &&
           kube::IsConditionTrue(binding->status()["conditions"], api::kBindingFullyApplied);
  }));
  plane.Patch("host", kPolicy, {ns, "divided"}, R"({"spec":{"suspension":null}})");
  CHECK(plane.Eventually([&] { return replicas("member1") + replicas("member2") == 1; }));
}

}  // namespace tests
