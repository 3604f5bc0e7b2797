// The dependencies of a template are recorded on its binding, and follow it into its clusters, if
// the policy propagates dependencies.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
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

constexpr char kShopPod[] = R"({
      containers: [{name: main, image: "nginx:1.25", envFrom: [{secretRef: {name: access}}]}],
      volumes: [{name: settings, configMap: {name: settings}}]})";

// Returns a policy of that name which propagates to member1 the templates of the selector (in
// YAML's flow style) and their dependencies.
std::string DependenciesPolicy(const std::string& name, const std::string& selector) {
  return absl::Substitute(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: $0, namespace: $$NS}
spec:
  propagateDeps: true
  resourceSelectors: [$1]
  placement: {clusterAffinity: {clusterNames: [member1]}}
)",
                          name, selector);
}

constexpr char kWalkingRobot[] = R"(
apiVersion: $NS.example.io/v1
kind: Robot
metadata: {name: one, namespace: $NS}
spec: {program: walk, key: metal}
)";

constexpr char kRobotScripts[] = R"(
    dependencyInterpretation:
      luaScript: |
        function GetDependencies(obj)
          return {{apiVersion = "v1", kind = "ConfigMap", namespace = obj.metadata.namespace,
                   name = obj.spec.program}}
        end
)";

constexpr char kTransitive[] = "--feature-gates=TransitiveDependencies=true";

// The first robot needs a program and the second one, which needs a program, too.
constexpr char kChainedRobots[] = R"(
apiVersion: $NS.example.io/v1
kind: Robot
metadata: {name: second, namespace: $NS}
spec: {program: talk}
---
apiVersion: $NS.example.io/v1
kind: Robot
metadata: {name: first, namespace: $NS}
spec: {program: walk, next: second}
)";

// $0 is what the script does for a robot without another one.
constexpr char kChainedRobotScripts[] = R"(
    dependencyInterpretation:
      luaScript: |
        function GetDependencies(obj)
          local ns = obj.metadata.namespace
          local needs = {{apiVersion = "v1", kind = "ConfigMap", namespace = ns,
                          name = obj.spec.program}}
          if obj.spec.next == nil then
            $0
            return needs
          end
          needs[2] = {apiVersion = obj.apiVersion, kind = "Robot", namespace = ns,
                      name = obj.spec.next}
          return needs
        end
)";

// $0 is its name, $1 that of the robot that it needs.
constexpr char kNextRobot[] = R"(
apiVersion: $$NS.example.io/v1
kind: Robot
metadata: {name: $0, namespace: $$NS}
spec: {next: $1}
)";

constexpr char kNextRobotScripts[] = R"(
    dependencyInterpretation:
      luaScript: |
        function GetDependencies(obj)
          return {{apiVersion = obj.apiVersion, kind = "Robot",
                   namespace = obj.metadata.namespace, name = obj.spec.next}}
        end
)";

const kube::Gvk kService{"", "v1", "Service"};
const kube::Gvk kEndpointSlice{"discovery.k8s.io", "v1", "EndpointSlice"};

constexpr char kServiceImports[] = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: serviceimports.multicluster.x-k8s.io}
spec:
  group: multicluster.x-k8s.io
  names: {kind: ServiceImport, listKind: ServiceImportList, plural: serviceimports, singular: serviceimport}
  scope: Namespaced
  versions:
  - name: v1alpha1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
)";

constexpr char kServiceImport[] = R"(
apiVersion: multicluster.x-k8s.io/v1alpha1
kind: ServiceImport
metadata: {name: db, namespace: $NS}
spec: {type: ClusterSetIP, ports: [{port: 80, protocol: TCP}]}
)";

constexpr char kDerivedService[] = R"(
apiVersion: v1
kind: Service
metadata: {name: derived-db, namespace: $NS}
spec: {ports: [{port: 80}]}
)";

// $0 is its name, $1 the Service that it belongs to.
constexpr char kSlice[] = R"(
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: $0, namespace: $$NS, labels: {kubernetes.io/service-name: $1}}
addressType: IPv4
endpoints: [{addresses: [10.0.0.1]}]
ports: [{port: 80, protocol: TCP, name: http}]
)";

// Returns the expected text of the annotation for names such as "ConfigMap/x".
std::string Text(const std::string& ns, const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    const size_t slash = name.find('/');
    absl::StrAppend(&text, text.empty() ? "" : ",", R"({"apiVersion":"v1","kind":")",
                    name.substr(0, slash), R"(","namespace":")", ns, R"(","name":")",
                    name.substr(slash + 1), R"("})");
  }
  return absl::StrCat("[", text, "]");
}

struct Bindings {
  ControlPlane plane;
  std::string ns = plane.UniqueNamespace("needs");

  explicit Bindings(std::vector<std::string> flags = {})
      : plane({.daemon_flags = std::move(flags)}) {
    Apply(kNamespaceYaml);
  }

  void Apply(const std::string& yaml) { plane.Apply("host", In(ns, yaml)); }

  // Returns the recorded dependencies; "-" while nothing is recorded.
  std::string Recorded(const std::string& binding) {
    const auto object = plane.Get("host", kBinding, {ns, binding});
    if (!object || !object->annotations().Has(api::kDependenciesAnnotation)) return "-";
    return std::string(object->Annotation(api::kDependenciesAnnotation));
  }
  bool Records(const std::string& binding, const std::vector<std::string>& names) {
    const bool records = plane.Eventually([&] { return Recorded(binding) == Text(ns, names); });
    INFO(Recorded(binding));
    CHECK(records);
    return records;
  }
};

}  // namespace

TEST_CASE("What a deployment mounts is recorded on its binding") {
  Bindings bindings;
  ControlPlane& plane = bindings.plane;
  const std::string shop = "shop-deployment";
  bindings.Apply(Deployment("shop", 1, kShopPod));
  bindings.Apply(DependenciesPolicy("shop", "{apiVersion: apps/v1, kind: Deployment, name: shop}"));
  bindings.Apply(WebDeployment());
  bindings.Apply(DividedPolicy(kWebSelector, 1, 1));
  REQUIRE(bindings.Records(shop, {"ConfigMap/settings", "Secret/access"}));
  REQUIRE(plane.Eventually([&] {
    return plane.Exists("member1", kDeployment, {bindings.ns, "web"});
  }));
  CHECK(bindings.Recorded("web-deployment") == "-");  // The policy does not propagate dependencies.

  SECTION("an edit of the template is followed") {
    plane.Patch("host", kDeployment, {bindings.ns, "shop"}, R"({"spec":{"template":{"spec":{
      "volumes":[{"name":"settings","configMap":{"name":"other"}}]}}}})");
    REQUIRE(bindings.Records(shop, {"ConfigMap/other", "Secret/access"}));
  }

  SECTION("a restart writes nothing") {
    const auto version = [&] {
      return std::string(plane.Get("host", kBinding, {bindings.ns, shop})->resource_version());
    };
    // Takes a moment: the pods wait for the volumes that they mount, and status changes before they
    // are ready are held back.
    REQUIRE(plane.Eventually([&] {
      const auto binding = plane.Get("host", kBinding, {bindings.ns, shop});
      return !binding->status()["aggregatedStatus"].empty();
    }));
    REQUIRE(plane.Settles(version, absl::Seconds(3)));
    plane.StopDaemon();
    const std::string before = version();
    plane.StartDaemon();
    plane.AwaitDaemon(bindings.ns);
    CHECK(plane.Always([&] { return version() == before; }));
  }

  SECTION("switched off, the record stays, and nothing keeps the binding from going") {
    plane.Patch("host", kPolicy, {bindings.ns, "shop"}, R"({"spec":{"propagateDeps":false}})");
    // The daemon may see an edit of the Deployment before one of the policy.
    REQUIRE(plane.Eventually([&] {
      return !plane.Get("host", kBinding, {bindings.ns, shop})->spec()["propagateDeps"].AsBool();
    }));
    plane.Patch("host", kDeployment, {bindings.ns, "shop"},
                R"({"spec":{"template":{"spec":{"volumes":null}}}})");
    REQUIRE(plane.Eventually([&] {
      const auto shipped = plane.Get("member1", kDeployment, {bindings.ns, "shop"});
      return shipped && !shipped->Get({"spec", "template", "spec"}).Has("volumes");
    }));
    CHECK(bindings.Recorded(shop) == Text(bindings.ns, {"ConfigMap/settings", "Secret/access"}));
    plane.Delete("host", kDeployment, {bindings.ns, "shop"});
    CHECK(plane.Eventually([&] { return !plane.Exists("host", kBinding, {bindings.ns, shop}); }));
  }
}

TEST_CASE("What a deployment mounts follows it into its clusters") {
  Bindings bindings;
  ControlPlane& plane = bindings.plane;
  const std::string& ns = bindings.ns;
  const auto reads = [&](const std::string& member, const std::string& value) {
    return plane.Eventually([&] {
      const auto config = plane.Get(member, kConfigMap, {ns, "settings"});
      return (config ? config->Get({"data", "k"}).ToString() : "-") == value;
    });
  };
  const auto settings = [&](const std::string& value) {
    bindings.Apply(absl::Substitute(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: $$NS}\n"
        "data: {k: $0}\n",
        value));
  };
  bindings.Apply(Deployment("shop", 1, kShopPod));
  bindings.Apply(DependenciesPolicy("shop", "{apiVersion: apps/v1, kind: Deployment, name: shop}"));
  REQUIRE(plane.Eventually([&] { return plane.Exists("member1", kDeployment, {ns, "shop"}); }));
  settings("first");  // It comes after the deployment.
  REQUIRE(reads("member1", "first"));
  settings("second");
  REQUIRE(reads("member1", "second"));

  const auto move = [&](const std::string& member) {
    plane.Patch(
        "host", kPolicy, {ns, "shop"},
        absl::Substitute(R"({"spec":{"placement":{"clusterAffinity":{"clusterNames":["$0"]}}}})",
                         member));
  };
  SECTION("it moves with the deployment") {
    move("member2");
    CHECK(reads("member2", "second"));
    CHECK(reads("member1", "-"));
  }
  SECTION("what is deleted by hand is made again") {
    plane.Delete("host", kBinding, {ns, "settings-configmap"});
    plane.Delete("member1", kConfigMap, {ns, "settings"});
    CHECK(reads("member1", "second"));
    CHECK(plane.Eventually([&] {
      const auto binding = plane.Get("host", kBinding, {ns, "settings-configmap"});
      return binding && !binding->IsDeleting() && binding->Get({"spec", "requiredBy"}).size() == 1;
    }));
  }
  SECTION("it leaves the clusters when it is not needed any more") {
    SECTION("because the deployment does not mount it") {
      plane.Patch("host", kDeployment, {ns, "shop"},
                  R"({"spec":{"template":{"spec":{"volumes":null}}}})");
    }
    SECTION("because the policy does not propagate it any more") {
      plane.Patch("host", kPolicy, {ns, "shop"}, R"({"spec":{"propagateDeps":false}})");
    }
    SECTION("because the deployment is deleted") {
      plane.Delete("host", kDeployment, {ns, "shop"});
      CHECK(plane.Eventually([&] {
        return !plane.Exists("host", kBinding, {ns, "shop-deployment"});
      }));
    }
    CHECK(reads("member1", "-"));
    CHECK(plane.Exists("host", kConfigMap, {ns, "settings"}));
  }
  SECTION("what happened while nobody looked is made good") {
    plane.StopDaemon();
    settings("third");
    move("member2");
    plane.StartDaemon();
    CHECK(reads("member2", "third"));
    CHECK(reads("member1", "-"));
  }
}

TEST_CASE("What a deployment mounts leaves a cluster after the deployment", "[sandbox]") {
  Bindings bindings;
  ControlPlane& plane = bindings.plane;
  const std::string& ns = bindings.ns;
  const auto has = [&](const std::string& member) {
    return plane.Exists(member, kDeployment, {ns, "shop"});
  };
  bindings.Apply(Settings("first"));
  bindings.Apply(Deployment("shop", 1, kShopPod));
  bindings.Apply(DependenciesPolicy("shop", "{apiVersion: apps/v1, kind: Deployment, name: shop}"));
  REQUIRE(plane.Eventually(
      [&] { return has("member1") && SettingIn(plane, "member1", ns) == "first"; }));
  sandbox::Faults& faults = plane.fleet()->member("member1")->faults();
  faults.FailNext(100000, 403, "DELETE", absl::StrCat("/namespaces/", ns, "/deployments"), "Denied",
                  "not now");
  plane.Patch("host", kPolicy, {ns, "shop"},
              R"({"spec":{"placement":{"clusterAffinity":{"clusterNames":["member2"]}}}})");
  REQUIRE(plane.Eventually(
      [&] { return has("member2") && SettingIn(plane, "member2", ns) == "first"; }));
  plane.KillDaemon();
  plane.StartDaemon();
  bindings.Apply(Settings("second"));
  CHECK(plane.Eventually([&] { return SettingIn(plane, "member2", ns) == "second"; }));
  CHECK(plane.Eventually([&] { return SettingIn(plane, "member1", ns) == "second"; }));
  CHECK(plane.Always([&] { return has("member1") && SettingIn(plane, "member1", ns) != ""; }));
  faults.Clear();
  CHECK(plane.Eventually([&] { return SettingIn(plane, "member1", ns) == ""; }));
  CHECK(!has("member1"));
  CHECK(SettingIn(plane, "member2", ns) == "second");
}

TEST_CASE("What a deployment mounts stays while finalizers keep the deployment in its cluster") {
  Bindings bindings;
  ControlPlane& plane = bindings.plane;
  const std::string& ns = bindings.ns;
  bindings.Apply(Settings("first"));
  bindings.Apply(Deployment("shop", 1, kShopPod));
  bindings.Apply(DependenciesPolicy("shop", "{apiVersion: apps/v1, kind: Deployment, name: shop}"));
  REQUIRE(plane.Eventually([&] {
    return plane.Exists("member1", kDeployment, {ns, "shop"}) &&
           SettingIn(plane, "member1", ns) == "first";
  }));
  plane.Patch("member1", kDeployment, {ns, "shop"},
              R"({"metadata":{"finalizers":["example.io/wait"]}})");
  plane.Patch("host", kPolicy, {ns, "shop"},
              R"({"spec":{"placement":{"clusterAffinity":{"clusterNames":["member2"]}}}})");
  REQUIRE(plane.Eventually([&] { return SettingIn(plane, "member2", ns) == "first"; }));
  REQUIRE(plane.Eventually([&] {
    return !plane.Exists(
        "host", kWork,
        {api::ExecutionNamespace("member1"), api::WorkName("Deployment", "shop", ns)});
  }));
  plane.StopDaemon();
  plane.StartDaemon();
  bindings.Apply(Settings("second"));
  CHECK(plane.Eventually([&] { return SettingIn(plane, "member1", ns) == "second"; }));
  CHECK(plane.Always([&] { return SettingIn(plane, "member1", ns) == "second"; }));
  plane.Patch("member1", kDeployment, {ns, "shop"}, R"({"metadata":{"finalizers":null}})");
  CHECK(plane.Eventually([&] { return SettingIn(plane, "member1", ns) == ""; }));
  CHECK(!plane.Exists("member1", kDeployment, {ns, "shop"}));
}

TEST_CASE("Dependencies of a customized kind follow its customization", "[pull]") {
  Bindings bindings;
  ControlPlane& plane = bindings.plane;
  const std::string robot = "one-robot";
  plane.ApplyEverywhere(In(bindings.ns, Definition("Robot", "robots")));
  bindings.Apply(kWalkingRobot);
  bindings.Apply(Customization("Robot", kRobotScripts));
  bindings.Apply(DependenciesPolicy("robots", "{apiVersion: $NS.example.io/v1, kind: Robot}"));
  REQUIRE(bindings.Records(robot, {"ConfigMap/walk"}));

  const auto customize = [&](const std::string& script) {
    plane.Patch(
        "host", kCustomization, {"", bindings.ns},
        absl::StrCat(R"({"spec":{"customizations":{"dependencyInterpretation":{"luaScript":)",
                     json::Write(script), "}}}}"));
  };
  customize(R"(function GetDependencies(obj)
      return {{apiVersion = "v1", kind = "Secret", namespace = obj.metadata.namespace,
               name = obj.spec.key}}
    end)");
  REQUIRE(bindings.Records(robot, {"Secret/metal"}));

  customize("function GetDependencies(obj) error('no such field') end");
  const kube::Gvk event{"", "v1", "Event"};
  const kube::Resource events{event, "events", true};
  const auto told = [&](const std::string& reason) {
    const auto page = plane.client("host").ListAll(events, bindings.ns, {}, {});
    if (!page.ok()) return false;
    for (const kube::Object& e : page->items) {
      if (e.Get({"reason"}).AsString() == reason &&
          e.Get({"involvedObject", "name"}).AsString() == "one") {
        return true;
      }
    }
    return false;
  };
  CHECK(plane.Eventually([&] { return told("GetDependenciesFailed"); }));
  CHECK(bindings.Recorded(robot) == Text(bindings.ns, {"Secret/metal"}));
  customize(R"(function GetDependencies(obj) return {} end)");
  CHECK(plane.Eventually([&] { return bindings.Recorded(robot) == "[]"; }));
  CHECK(plane.Eventually([&] { return told("GetDependenciesSucceed"); }));

  plane.Delete("host", kCustomization, {"", bindings.ns});
  CHECK(plane.Eventually([&] { return bindings.Recorded(robot) == "-"; }));
}

TEST_CASE("With the gate TransitiveDependencies the Secrets of a ServiceAccount follow") {
  Bindings bindings({kTransitive});
  bindings.Apply(R"(
apiVersion: v1
kind: ServiceAccount
metadata: {name: builder, namespace: $NS}
imagePullSecrets: [{name: pull}]
secrets: [{name: builder-token-x7f2q}, {name: key}]
)");
  for (const char* name : {"pull", "key", "builder-token-x7f2q"}) {
    bindings.Apply(absl::Substitute(
        "apiVersion: v1\nkind: Secret\nmetadata: {name: $0, namespace: $$NS}\n", name));
  }
  bindings.Apply(Deployment("shop", 1, R"({serviceAccountName: builder,
      containers: [{name: main, image: "nginx:1.25"}]})"));
  bindings.Apply(DependenciesPolicy("shop", "{apiVersion: apps/v1, kind: Deployment, name: shop}"));
  REQUIRE(
      bindings.Records("shop-deployment", {"ServiceAccount/builder", "Secret/key", "Secret/pull"}));
  for (const char* name : {"pull", "key"}) {
    CHECK(bindings.plane.Eventually([&] {
      return bindings.plane.Exists("member1", kSecret, {bindings.ns, name});
    }));
  }
  CHECK_FALSE(bindings.plane.Exists("member1", kSecret, {bindings.ns, "builder-token-x7f2q"}));
}

TEST_CASE("Templates that need each other, or themselves, leave a cluster", "[pull]") {
  Bindings bindings;
  ControlPlane& plane = bindings.plane;
  const std::string& ns = bindings.ns;
  const kube::Gvk robot = DefinedKind(ns, "Robot");
  const std::vector<std::string> names = {"first", "second", "third"};
  plane.ApplyEverywhere(In(ns, Definition("Robot", "robots")));
  bindings.Apply(Customization("Robot", kNextRobotScripts));
  for (const std::string& name : names) {
    const std::string next = name == "first" ? "second" : name == "second" ? "first" : "third";
    bindings.Apply(absl::Substitute(kNextRobot, name, next));
  }
  bindings.Apply(DependenciesPolicy("robots", "{apiVersion: $NS.example.io/v1, kind: Robot}"));
  const auto all_are_in = [&](const std::string& member, const std::string& other) {
    return plane.Eventually([&] {
      return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
        const auto binding = plane.Get("host", kBinding, {ns, name + "-robot"});
        if (!binding || binding->Get({"spec", "requiredBy"}).size() != 1) return false;
        const json::Value& clusters = binding->Get({"spec", "requiredBy"}).At(0)["clusters"];
        return clusters.size() == 1 && clusters.At(0)["name"].AsString() == member &&
               plane.Exists(member, robot, {ns, name}) && !plane.Exists(other, robot, {ns, name});
      });
    });
  };
  REQUIRE(all_are_in("member1", "member2"));
  // The scheduler leaves out a cluster whose status does not list the kind, and does not look
  // again.
  REQUIRE(plane.Eventually([&] {
    const auto cluster = plane.Get("host", kCluster, {"", "member2"});
    return cluster && absl::StrContains(json::Write(cluster->Get({"status", "apiEnablements"})),
                                        absl::StrCat("\"", robot.ApiVersion(), "\""));
  }));
  plane.Patch("host", kPolicy, {ns, "robots"},
              R"({"spec":{"placement":{"clusterAffinity":{"clusterNames":["member2"]}}}})");
  CHECK(all_are_in("member2", "member1"));
  plane.Delete("host", kCustomization, {"", ns});
}

TEST_CASE("A rule that fails for one dependency holds up no other, and is followed when mended") {
  Bindings bindings({kTransitive});
  ControlPlane& plane = bindings.plane;
  const std::string& ns = bindings.ns;
  const kube::Gvk robot = DefinedKind(ns, "Robot");
  const auto program = [&](const std::string& name) {
    bindings.Apply(absl::Substitute(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: $0, namespace: $$NS}\n", name));
  };
  const auto is_in_member = [&](const kube::Gvk& kind, const std::string& name) {
    return plane.Eventually([&] { return plane.Exists("member1", kind, {ns, name}); });
  };
  const auto customize = [&](const std::string& statement) {
    bindings.Apply(Customization("Robot", absl::Substitute(kChainedRobotScripts, statement)));
  };
  const auto reports = [&](const std::string& why) {
    return plane.Eventually([&] {
      const std::string events = plane.EventsOn(robot, "first");
      return absl::StrContains(events, "GetDependenciesFailed") &&
             absl::StrContains(events, absl::StrCat("Robot ", ns, "/second")) &&
             absl::StrContains(events, why);
    });
  };
  plane.ApplyEverywhere(In(ns, Definition("Robot", "robots")));
  program("walk");
  program("talk");
  customize("error('mute')");
  bindings.Apply(kChainedRobots);
  bindings.Apply(
      DependenciesPolicy("robots", "{apiVersion: $NS.example.io/v1, kind: Robot, name: first}"));
  CHECK(is_in_member(kConfigMap, "walk"));
  CHECK(is_in_member(robot, "second"));
  CHECK(reports("mute"));
  customize("");
  CHECK(is_in_member(kConfigMap, "talk"));
  customize("error('deaf')");
  CHECK(reports("deaf"));
  CHECK(plane.Always([&] { return plane.Exists("member1", kConfigMap, {ns, "talk"}); }));
  plane.Delete("host", kCustomization, {"", ns});
}

TEST_CASE("The Service and EndpointSlices of a ServiceImport follow it", "[sandbox]") {
  Bindings bindings;
  ControlPlane& plane = bindings.plane;
  const std::string& ns = bindings.ns;
  const auto slice = [&](const std::string& name, const std::string& service) {
    bindings.Apply(absl::Substitute(kSlice, name, service));
  };
  const auto is_there = [&](const std::string& member, const std::string& name) {
    return plane.Exists(member, kEndpointSlice, {ns, name});
  };
  const auto comes = [&](const std::string& member, const std::string& name) {
    return plane.Eventually([&] { return is_there(member, name); });
  };
  const auto goes = [&](const std::string& member, const std::string& name) {
    return plane.Eventually([&] { return !is_there(member, name); });
  };
  plane.ApplyEverywhere(kServiceImports);
  slice("early", "derived-db");
  slice("foreign", "derived-web");
  bindings.Apply(kServiceImport);
  bindings.Apply(DependenciesPolicy(
      "imports", "{apiVersion: multicluster.x-k8s.io/v1alpha1, kind: ServiceImport, name: db}"));
  REQUIRE(comes("member1", "early"));
  slice("late", "derived-db");
  bindings.Apply(kDerivedService);
  CHECK(comes("member1", "late"));
  CHECK(plane.Eventually([&] { return plane.Exists("member1", kService, {ns, "derived-db"}); }));
  CHECK_FALSE(is_there("member1", "foreign"));

  slice("early", "derived-web");  // It has another label now.
  CHECK(goes("member1", "early"));
  CHECK(is_there("member1", "late"));
  slice("foreign", "derived-db");
  CHECK(comes("member1", "foreign"));
  plane.Delete("host", kEndpointSlice, {ns, "foreign"});
  CHECK(goes("member1", "foreign"));

  plane.StopDaemon();
  slice("early", "derived-db");
  slice("late", "derived-web");
  plane.StartDaemon();
  CHECK(comes("member1", "early"));
  CHECK(goes("member1", "late"));

  plane.Patch("host", kPolicy, {ns, "imports"},
              R"({"spec":{"placement":{"clusterAffinity":{"clusterNames":["member2"]}}}})");
  CHECK(comes("member2", "early"));
  CHECK(goes("member1", "early"));
}

}  // namespace tests
