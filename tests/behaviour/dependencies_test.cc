// The dependencies of a template are recorded on its binding, and follow it into its clusters, if
// the policy propagates dependencies.
#include <string>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "api/keys.h"
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

  Bindings() { Apply(kNamespaceYaml); }

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
    CHECK(plane.Always([&] { return version() == before; }, absl::Seconds(4)));
  }

  SECTION("switched off, the record stays, and nothing keeps the binding from going") {
    plane.Patch("host", kPolicy, {bindings.ns, "shop"}, R"({"spec":{"propagateDeps":false}})");
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

TEST_CASE("Dependencies of a customized kind follow its customization") {
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

}  // namespace tests
