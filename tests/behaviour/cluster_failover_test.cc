// Workloads leave clusters with NoExecute taints, when their tolerations end and not faster than
// the flags allow.
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/substitute.h"
#include "absl/time/clock.h"
#include "api/eviction.h"
#include "api/keys.h"
#include "api/names.h"
#include "sandbox/api_server.h"
#include "sandbox/fleet.h"
#include "tests/behaviour/manifests.h"
#include "tests/behaviour/membership.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

constexpr char kEvicts[] = "--enable-no-execute-taint-eviction";
constexpr char kGate[] = "--feature-gates=Failover=true";
// Tasks stay to be looked at.
constexpr char kKeepsTasks[] = "--controllers=*,-gracefulEviction";

constexpr char kPrimaryThenBackup[] = R"(
    clusterAffinities:
    - {affinityName: primary, clusterNames: [member1]}
    - {affinityName: backup, clusterNames: [member2]}
)";
constexpr char kOneOfBoth[] = R"(
    clusterAffinity: {clusterNames: [member1, member2]}
    spreadConstraints: [{spreadByField: cluster, minGroups: 1, maxGroups: 1}]
)";

constexpr char kSpilling[] = R"(
    clusterAffinities:
    - affinityName: primary
      clusterNames: [member1]
      overflowAffinities: [{affinityName: spill, clusterNames: [member2]}]
    replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Aggregated}
)";

constexpr char kRole[] = R"(
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: $NS}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
)";

// Returns a policy for one kind. `spec` and `placement` are lines of YAML.
std::string PolicyOf(const std::string& selector, const std::string& placement,
                     const std::string& spec = "") {
  const bool role = absl::StrContains(selector, "ClusterRole");
  return absl::Substitute(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: $0
metadata: $1
spec:
$2
  resourceSelectors: [$3]
  placement:$4
)",
                          role ? "ClusterPropagationPolicy" : "PropagationPolicy",
                          role ? "{name: $NS}" : "{generateName: p-, namespace: $NS}", spec,
                          selector, placement);
}

std::string ConfigMapNamed(const std::string& name) {
  return absl::StrCat("apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: $NS, name: ", name,
                      ", labels: {app: many}}\n");
}

constexpr char kAllOfThem[] =
    "{apiVersion: v1, kind: ConfigMap, labelSelector: {matchLabels: {app: many}}}";

std::string Selects(const std::string& config_map) {
  return absl::StrCat("{apiVersion: v1, kind: ConfigMap, name: ", config_map, "}");
}

struct Plane {
  ControlPlane plane;
  std::string ns = plane.UniqueNamespace("failover");

  explicit Plane(std::vector<std::string> flags, bool keeps_tasks = true)
      : plane([&] {
          flags.insert(flags.end(), {kGate, kEvicts});
          if (keeps_tasks) flags.push_back(kKeepsTasks);
          return ControlPlane::Options{.daemon_flags = std::move(flags)};
        }()) {
    Apply(kNamespaceYaml);
  }
  ~Plane() {
    if (plane.Exists("host", kCluster, {"", "member1"})) {
      plane.Patch("host", kCluster, {"", "member1"}, R"({"spec":{"taints":null}})");
    }
    for (const kube::Gvk& kind : {kClusterPolicy, kClusterRole}) {
      if (plane.Exists("host", kind, {"", ns})) plane.Delete("host", kind, {"", ns});
    }
  }

  void Apply(const std::string& yaml) { plane.Apply("host", In(ns, yaml)); }
  // Propagates an object `name` of this manifest.
  void Propagate(const std::string& name, const std::string& manifest, const std::string& policy) {
    Apply(manifest);
    Apply(absl::StrReplaceAll(policy, {{"generateName: p-", absl::StrCat("name: p-", name)}}));
  }
  void TaintMember1() {
    plane.Patch("host", kCluster, {"", "member1"},
                R"({"spec":{"taints":[{"key":"example.com/down","effect":"NoExecute"}]}})");
  }
  kube::Object BindingOf(const std::string& config_map) {
    const auto binding = plane.Get("host", kBinding, {ns, absl::StrCat(config_map, "-configmap")});
    return binding.value_or(kube::Object());
  }
  // Waits until the scheduler has said which group of clusters it uses; it does so after it has
  // written the clusters.
  bool Observes(const kube::Gvk& kind, const kube::ObjectKey& key, const char* group) {
    return plane.Eventually([&] {
      const auto binding = plane.Get("host", kind, key);
      return binding && binding->status()["schedulerObservingAffinityName"].AsString() == group;
    });
  }
  // Returns whether the scheduler has placed these ConfigMaps in the cluster.
  int Placed(const std::vector<std::string>& config_maps, const std::string& cluster) {
    int count = 0;
    for (const std::string& name : config_maps) {
      const kube::Object binding = BindingOf(name);
      for (const json::Value& target : binding.Get({"spec", "clusters"}).items()) {
        if (target["name"].AsString() == cluster) ++count;
      }
    }
    return count;
  }
};

// A placement in one of both members, with a toleration of the taint.
std::string Tolerating(const std::string& how_long) {
  return absl::StrCat(kOneOfBoth,
                      "    clusterTolerations: [{key: example.com/down, operator: Exists", how_long,
                      "}]\n");
}

}  // namespace

TEST_CASE("Workloads of both scopes leave a cluster with a NoExecute taint for another one",
          "[pull]") {
  Plane p({"--resource-eviction-rate=100"});
  ControlPlane& plane = p.plane;
  p.Propagate(
      "web", WebDeployment(),
      PolicyOf(kWebSelector, kPrimaryThenBackup, "  failover: {cluster: {purgeMode: Directly}}"));
  p.Propagate("settings", Settings("v"), PolicyOf(Selects("settings"), kOneOfBoth));
  p.Propagate("role", kRole,
              PolicyOf("{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, name: $NS}",
                       kPrimaryThenBackup));
  const auto in = [&](const char* member) {
    return plane.Exists(member, kDeployment, {p.ns, "web"}) &&
           plane.Exists(member, kConfigMap, {p.ns, "settings"}) &&
           plane.Exists(member, kClusterRole, {"", p.ns});
  };
  REQUIRE(plane.Eventually([&] { return in("member1"); }));

  p.TaintMember1();
  CHECK(plane.Eventually([&] { return in("member2"); }));
  // The Deployment was to be gone before it came elsewhere; the others are kept until their tasks
  // end.
  CHECK(plane.Eventually([&] { return !plane.Exists("member1", kDeployment, {p.ns, "web"}); }));
  CHECK(plane.Exists("member1", kConfigMap, {p.ns, "settings"}));
  const kube::Object settings = p.BindingOf("settings");
  REQUIRE(settings.spec()["gracefulEvictionTasks"].size() == 1);
  const json::Value& task = settings.spec()["gracefulEvictionTasks"].At(0);
  CHECK(task["fromCluster"].AsString() == "member1");
  CHECK(task["purgeMode"].AsString() == "Gracefully");
  CHECK(task["reason"].AsString() == "TaintUntolerated");
  CHECK(task["producer"].AsString() == "TaintManager");
  CHECK(p.Observes(kClusterBinding, {"", absl::StrCat(p.ns, "-clusterrole")}, "backup"));
}

TEST_CASE(
    "A workload leaves a cluster with a NoExecute taint for one that its group overflows to") {
  Plane p({"--resource-eviction-rate=100"});
  p.Propagate("spill", Deployment("spill", 2, "{containers: [{name: c, image: nginx}]}"),
              PolicyOf("{apiVersion: apps/v1, kind: Deployment, name: spill}", kSpilling));
  const auto in = [&](const char* member) {
    return p.plane.Exists(member, kDeployment, {p.ns, "spill"});
  };
  REQUIRE(p.plane.Eventually([&] { return in("member1"); }));
  p.TaintMember1();
  CHECK(p.plane.Eventually([&] { return in("member2"); }));
  CHECK(p.Observes(kBinding, {p.ns, "spill-deployment"}, "primary"));
}

TEST_CASE("A cluster that fails is tainted by a policy, and its workloads run elsewhere",
          "[sandbox][pull]") {
  Plane p({"--resource-eviction-rate=100"});
  ControlPlane& plane = p.plane;
  p.Propagate("web", WebDeployment(), PolicyOf(kWebSelector, kPrimaryThenBackup));
  REQUIRE(plane.Eventually([&] { return plane.Exists("member1", kDeployment, {p.ns, "web"}); }));
  p.Apply(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterTaintPolicy
metadata: {name: failed}
spec:
  addOnConditions: [{conditionType: Ready, operator: In, statusValues: ["False", Unknown]}]
  removeOnConditions: [{conditionType: Ready, operator: In, statusValues: ["True"]}]
  taints: [{key: example.com/failed, effect: NoExecute}]
)");
  plane.fleet()->member("member1")->faults().SetPartitioned(true);
  CHECK(plane.Eventually([&] { return plane.Exists("member2", kDeployment, {p.ns, "web"}); }));
  // It stays there when the cluster is back.
  plane.fleet()->member("member1")->faults().SetPartitioned(false);
  CHECK(plane.Eventually([&] {
    return plane.Get("host", kCluster, {"", "member1"})->Get({"spec", "taints"}).empty();
  }));
  const auto binding = plane.Get("host", kBinding, {p.ns, "web-deployment"});
  REQUIRE(binding->spec()["clusters"].size() == 1);
  CHECK(binding->spec()["clusters"].At(0)["name"].AsString() == "member2");
}

// The only cluster of the workloads is away for so long that they are evicted; nobody can delete
// them there.
TEST_CASE("A workload that was evicted during an outage runs on if its cluster is chosen again",
          "[sandbox]") {
  Plane p({"--resource-eviction-rate=100", "--graceful-eviction-timeout=1s",
           "--cluster-failure-threshold=2s", "--cluster-success-threshold=2s",
           "--cluster-status-update-frequency=1s", "--controllers=*,-clustertaintpolicy"},
          /*keeps_tasks=*/false);
  ControlPlane& plane = p.plane;
  // The scheduler places the workloads there although the taint is there, and the taint manager
  // evicts them after a second.
  constexpr char kOnlyMember1[] = R"(
    clusterAffinity: {clusterNames: [member1]}
    clusterTolerations: [{key: example.com/down, operator: Exists, tolerationSeconds: 1}]
)";
  p.Propagate("web", WebDeployment(), PolicyOf(kWebSelector, kOnlyMember1));
  p.Propagate("role", kRole,
              PolicyOf("{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, name: $NS}",
                       kOnlyMember1));
  const auto uid = [&](const char* cluster, const kube::Gvk& kind, const kube::ObjectKey& key) {
    const auto object = plane.Get(cluster, kind, key);
    return object && !object->IsDeleting() ? std::string(object->uid()) : std::string();
  };
  const kube::ObjectKey web = {p.ns, "web"}, role = {"", p.ns};
  const kube::ObjectKey works[] = {{"karmada-es-member1", api::WorkName("Deployment", "web", p.ns)},
                                   {"karmada-es-member1", api::WorkName("ClusterRole", p.ns, "")}};
  REQUIRE(plane.Eventually([&] {
    return !uid("member1", kDeployment, web).empty() && !uid("member1", kClusterRole, role).empty();
  }));
  const std::string web_uid = uid("member1", kDeployment, web);
  const std::string role_uid = uid("member1", kClusterRole, role);
  plane.fleet()->member("member1")->faults().SetPartitioned(true);
  REQUIRE(plane.Eventually([&] {
    const auto cluster = plane.Get("host", kCluster, {"", "member1"});
    return !kube::IsConditionTrue(cluster->status()["conditions"], "Ready");
  }));
  p.TaintMember1();
  for (const kube::ObjectKey& work : works) {
    REQUIRE(plane.Eventually([&] {
      const auto object = plane.Get("host", kWork, work);
      return object && object->IsDeleting();
    }));
  }
  SECTION("chosen again") {
    SECTION("without the taint") {
      plane.Patch("host", kCluster, {"", "member1"}, R"({"spec":{"taints":null}})");
      plane.fleet()->member("member1")->faults().SetPartitioned(false);
    }
    SECTION("before a policy removes the taint") {
      // The loop that acts by it does not run, as if it were slow.
      p.Apply(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterTaintPolicy
metadata: {name: down}
spec:
  removeOnConditions: [{conditionType: Ready, operator: In, statusValues: ["True"]}]
  taints: [{key: example.com/down, effect: NoExecute}]
)");
      plane.fleet()->member("member1")->faults().SetPartitioned(false);
    }
    for (const kube::ObjectKey& work : works) {
      CHECK(plane.Eventually([&] {
        const auto object = plane.Get("host", kWork, work);
        return object && !object->IsDeleting() &&
               kube::IsConditionTrue(object->status()["conditions"], "Applied");
      }));
    }
    // Another taint makes the taint manager look at all bindings of the cluster again.
    json::Value taints = plane.Get("host", kCluster, {"", "member1"})->Get({"spec", "taints"});
    if (!taints.is_array()) taints = json::Value::Array();
    taints.Append(json::Value::Object({{"key", "other"}, {"effect", "PreferNoSchedule"}}));
    const json::Value spec = json::Value::Object({{"taints", std::move(taints)}});
    plane.Patch("host", kCluster, {"", "member1"},
                json::Write(json::Value::Object({{"spec", spec}})));
    CHECK(plane.Always([&] {
      const auto binding = plane.Get("host", kBinding, {p.ns, "web-deployment"});
      return !binding->spec().Has("gracefulEvictionTasks") &&
             uid("member1", kDeployment, web) == web_uid &&
             uid("member1", kClusterRole, role) == role_uid;
    }));
    // What is deleted from now on goes.
    plane.Delete("host", kDeployment, web);
    CHECK(plane.Eventually([&] { return !plane.Exists("member1", kDeployment, web); }));
  }
  SECTION("deleted meanwhile") {
    plane.Delete("host", kDeployment, web);
    plane.Delete("host", kClusterRole, role);
    plane.Patch("host", kCluster, {"", "member1"}, R"({"spec":{"taints":null}})");
    plane.fleet()->member("member1")->faults().SetPartitioned(false);
    CHECK(plane.Eventually([&] {
      return !plane.Exists("member1", kDeployment, web) &&
             !plane.Exists("member1", kClusterRole, role);
    }));
  }
  // Nothing that stands in for a Work is left.
  CHECK(plane.Eventually([&] {
    const auto all =
        plane.client("host").ListAll({kWork, "works", true}, "karmada-es-member1", {}, {});
    if (!all.ok()) return false;
    for (const kube::Object& work : all->items) {
      if (absl::StartsWith(work.name(), "stand-in-")) return false;
    }
    return true;
  }));
}

TEST_CASE("A toleration ends at its time even if the program is restarted, or never") {
  Plane p({});
  ControlPlane& plane = p.plane;
  p.Propagate("short", ConfigMapNamed("short"),
              PolicyOf(Selects("short"), Tolerating(", tolerationSeconds: 3")));
  p.Propagate("long", ConfigMapNamed("long"), PolicyOf(Selects("long"), Tolerating("")));
  REQUIRE(plane.Eventually([&] { return p.Placed({"short", "long"}, "member1") == 2; }));
  p.TaintMember1();
  plane.StopDaemon();
  plane.StartDaemon();
  CHECK(plane.Eventually([&] { return p.Placed({"short"}, "member2") == 1; }));
  const auto cluster = plane.Get("host", kCluster, {"", "member1"});
  const auto added =
      kube::ParseTime(cluster->Get({"spec", "taints"}).At(0)["timeAdded"].AsString());
  REQUIRE(added.ok());
  CHECK(absl::Now() >= *added + absl::Seconds(3));
  CHECK(p.Placed({"long"}, "member1") == 1);
}

TEST_CASE("A first eviction ends as usual although the taint stays and is tolerated") {
  Plane p({"--resource-eviction-rate=100"}, /*keeps_tasks=*/false);
  ControlPlane& plane = p.plane;
  p.Propagate("web", WebDeployment(), PolicyOf(kWebSelector, R"(
    clusterAffinity: {clusterNames: [member1, member2]}
    clusterTolerations: [{key: example.com/down, operator: Exists, tolerationSeconds: 0}]
    replicaScheduling:
      replicaSchedulingType: Divided
      replicaDivisionPreference: Weighted
      weightPreference:
        staticWeightList:
        - {targetCluster: {clusterNames: [member1]}, weight: 1}
        - {targetCluster: {clusterNames: [member2]}, weight: 1}
)"));
  const kube::ObjectKey web = {p.ns, "web"};
  REQUIRE(plane.Eventually([&] {
    return plane.Exists("member1", kDeployment, web) && plane.Exists("member2", kDeployment, web);
  }));
  p.TaintMember1();
  CHECK(plane.Eventually([&] {
    return absl::StrContains(plane.EventsOn(kDeployment, "web"),
                             "EvictWorkloadFromClusterSucceed: Evict from cluster member1");
  }));
  CHECK(plane.Eventually([&] {
    const auto binding = plane.Get("host", kBinding, {p.ns, "web-deployment"});
    return binding && !binding->spec().Has("gracefulEvictionTasks") &&
           !plane.Exists("member1", kDeployment, web);
  }));
  CHECK_FALSE(plane.Get("host", kCluster, {"", "member1"})->Get({"spec", "taints"}).empty());
}

TEST_CASE("A workload that has returned to a tainted cluster stays away until the taint goes") {
  Plane p({"--resource-eviction-rate=100"}, /*keeps_tasks=*/false);
  ControlPlane& plane = p.plane;
  p.Propagate("both", ConfigMapNamed("both"), PolicyOf(Selects("both"), R"(
    clusterAffinity: {clusterNames: [member1, member2]}
    clusterTolerations: [{key: example.com/down, operator: Exists, tolerationSeconds: 1}]
)"));
  const kube::ObjectKey object = {p.ns, "both"};
  REQUIRE(plane.Eventually([&] {
    return plane.Exists("member1", kConfigMap, object) &&
           plane.Exists("member2", kConfigMap, object);
  }));
  p.TaintMember1();
  // The scheduler places it there again, as soon as the first eviction has ended.
  REQUIRE(plane.Eventually([&] {
    const json::Value tasks = p.BindingOf("both").Get({"spec", "gracefulEvictionTasks"});
    return tasks.size() == 1 && api::KeepsAway(tasks.At(0)) &&
           !plane.Exists("member1", kConfigMap, object);
  }));
  const auto is_away = [&] {
    return p.Placed({"both"}, "member1") == 0 && !plane.Exists("member1", kConfigMap, object);
  };
  CHECK(plane.Always(is_away));
  plane.StopDaemon();
  plane.StartDaemon();
  // The cluster that has it still follows the template.
  plane.Patch("host", kConfigMap, object, R"({"data":{"edited":"yes"}})");
  REQUIRE(plane.Eventually([&] {
    return plane.Get("member2", kConfigMap, object)->Get({"data", "edited"}).AsString() == "yes";
  }));
  CHECK(plane.Always(is_away));
  plane.Patch("host", kCluster, {"", "member1"}, R"({"spec":{"taints":null}})");
  CHECK(plane.Eventually([&] { return plane.Exists("member1", kConfigMap, object); }));
  CHECK(plane.Eventually([&] {
    const kube::Object binding = p.BindingOf("both");
    return !binding.spec().Has("gracefulEvictionTasks") &&
           !binding.annotations().Has(api::kLeftTaintedClustersAnnotation);
  }));
}

// On a plane that others have used, their bindings would be evicted, too.
TEST_CASE("Evictions follow the rate, and a restart goes on with those that are left",
          "[sandbox]") {
  Plane p({"--resource-eviction-rate=0"});  // Each of the three workers evicts one binding.
  ControlPlane& plane = p.plane;
  const std::vector<std::string> names = {"a", "b", "c", "d", "e"};
  for (const std::string& name : names) p.Apply(ConfigMapNamed(name));
  p.Propagate("all", ConfigMapNamed("a"), PolicyOf(kAllOfThem, kOneOfBoth));
  REQUIRE(plane.Eventually([&] { return p.Placed(names, "member1") == 5; }));
  p.TaintMember1();
  REQUIRE(plane.Eventually([&] { return p.Placed(names, "member2") == 3; }));
  CHECK(plane.Always([&] { return p.Placed(names, "member1") == 2; }));
  plane.StopDaemon();
  plane.StartDaemon();
  CHECK(plane.Eventually([&] { return p.Placed(names, "member2") == 5; }));
}

TEST_CASE(
    "A cluster that is unjoined while its workloads are evicted and others come leaves nothing",
    "[sandbox]") {
  Plane p({"--resource-eviction-rate=0"});
  ControlPlane& plane = p.plane;
  std::vector<std::string> names;
  const auto add = [&] {
    names.push_back(absl::StrCat("c", names.size()));
    p.Apply(ConfigMapNamed(names.back()));
  };
  for (int i = 0; i < 5; ++i) add();
  p.Propagate("all", ConfigMapNamed("c0"),
              PolicyOf(kAllOfThem, "\n    clusterAffinity: {clusterNames: [member1, member2]}\n"));
  REQUIRE(plane.Eventually([&] { return p.Placed(names, "member1") == 5; }));
  p.TaintMember1();
  add();
  REQUIRE(plane.Eventually([&] {
    return p.Placed({"c0", "c1", "c2", "c3", "c4"}, "member1") < 5;
  }));
  Leave(plane, "member1");
  for (int i = 0; i < 5; ++i) add();
  CHECK(plane.Eventually([&] { return !plane.Exists("host", kCluster, {"", "member1"}); }));
  CHECK(p.Placed(names, "member1") == 0);
  CHECK_FALSE(plane.Exists("host", kNamespace, {"", api::ExecutionNamespace("member1")}));
  CHECK(plane.Eventually([&] {
    for (const std::string& name : names) {
      if (!plane.Exists("member2", kConfigMap, {p.ns, name})) return false;
      if (plane.Exists("member1", kConfigMap, {p.ns, name})) return false;
    }
    return true;
  }));
}

}  // namespace tests
