// Bad input on the way from the template over binding and Work to the member: what is wrong is said
// where the user looks, and what is right goes on.
#include <string>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/names.h"
#include "api/resources.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

const kube::Gvk kDefinition{"apiextensions.k8s.io", "v1", "CustomResourceDefinition"};

struct Plane {
  ControlPlane plane;
  std::string ns = plane.UniqueNamespace("bad");

  Plane() { plane.Apply("host", In(ns, kNamespaceYaml)); }

  kube::ObjectKey WorkKey(const std::string& kind, const std::string& name) const {
    return {api::ExecutionNamespace("member1"), api::WorkName(kind, name, ns)};
  }
  // Returns the condition Applied of a Work in member1 as "False: message".
  std::string Applied(const std::string& kind, const std::string& name) {
    const auto work = plane.Get("host", kWork, WorkKey(kind, name));
    if (!work) return "";
    for (const json::Value& c : work->status()["conditions"].items()) {
      if (c["type"].AsString() != "Applied") continue;
      return absl::StrCat(c["status"].AsString(), ": ", c["message"].AsString());
    }
    return "";
  }
  bool Reads(const std::string& member, const std::string& value) {
    return plane.Eventually([&] { return SettingIn(plane, member, ns) == value; });
  }
};

}  // namespace

TEST_CASE("An object whose definition is missing in a member says so, and follows it",
          "[sandbox][pull]") {
  Plane p;
  p.plane.ApplyEverywhere(In(p.ns, Definition("Robot", "robots")));
  p.plane.Apply("host", In(p.ns, R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: robots, namespace: $NS}
spec:
  resourceSelectors: [{apiVersion: $NS.example.io/v1, kind: Robot}]
  placement: {clusterAffinity: {clusterNames: [member1, member2]}}
)"));
  p.plane.Apply("host", In(p.ns, kRobotYaml));
  const kube::Gvk robot = DefinedKind(p.ns, "Robot");
  const kube::ObjectKey one{p.ns, "one"};
  REQUIRE(p.plane.Eventually([&] {
    return p.plane.Exists("member1", robot, one) && p.plane.Exists("member2", robot, one);
  }));
  // The second of two changes reaches the daemon by its watch, which therefore reports the
  // deletion.
  for (const int arms : {7, 8}) {
    p.plane.Patch("member1", robot, one, absl::StrCat(R"({"spec":{"arms":)", arms, "}}"));
    REQUIRE(p.plane.Eventually([&] {
      const auto now = p.plane.Get("member1", robot, one);
      return now && now->spec()["arms"].AsInt() != arms;
    }));
  }
  p.plane.Delete("member1", kDefinition, {"", absl::StrCat("robots.", p.ns, ".example.io")});
  CHECK(p.plane.Eventually([&] {
    return absl::StrContains(p.Applied("Robot", "one"),
                             "the server could not find the requested resource");
  }));
  CHECK(p.plane.Exists("member2", robot, one));

  p.plane.Apply("member1", In(p.ns, Definition("Robot", "robots")));
  CHECK(p.plane.Eventually([&] { return p.plane.Exists("member1", robot, one); }));
  CHECK(p.plane.Eventually([&] { return absl::StartsWith(p.Applied("Robot", "one"), "True: "); }));
}

TEST_CASE("An execution namespace that somebody deletes is made again, and its Works with it",
          "[sandbox][pull]") {
  Plane p;
  p.plane.Apply("host", In(p.ns, Settings("first")));
  p.plane.Apply("host", In(p.ns, kSettingsPolicy));
  REQUIRE(p.Reads("member1", "first"));
  const auto before = p.plane.Get("host", kNamespace, {"", "karmada-es-member1"});
  REQUIRE(before.has_value());
  p.plane.Delete("host", kNamespace, {"", "karmada-es-member1"});
  REQUIRE(p.plane.Eventually([&] {
    const auto now = p.plane.Get("host", kNamespace, {"", "karmada-es-member1"});
    return now && now->uid() != before->uid();
  }));
  CHECK(p.Reads("member1", "first"));
  CHECK(p.Reads("member2", "first"));
}

TEST_CASE("A template whose finalizer does not end stays in its clusters, and goes with it",
          "[pull]") {
  Plane p;
  p.plane.Apply("host", In(p.ns, Settings("first")));
  p.plane.Patch("host", kConfigMap, {p.ns, "settings"},
                R"({"metadata":{"finalizers":["example.com/never"]}})");
  p.plane.Apply("host", In(p.ns, kSettingsPolicy));
  REQUIRE(p.Reads("member1", "first"));
  p.plane.Delete("host", kConfigMap, {p.ns, "settings"});
  CHECK(p.plane.Always([&] { return SettingIn(p.plane, "member1", p.ns) == "first"; }));
  p.plane.Patch("host", kConfigMap, {p.ns, "settings"}, R"({"metadata":{"finalizers":null}})");
  CHECK(p.plane.Eventually([&] {
    return !p.plane.Exists("member1", kConfigMap, {p.ns, "settings"}) &&
           !p.plane.Exists("host", kBinding, {p.ns, "settings-configmap"}) &&
           !p.plane.Exists("host", kWork, p.WorkKey("ConfigMap", "settings"));
  }));
}

TEST_CASE(
    "An object whose name is too long for a Work says so, and the others of its policy land") {
  Plane p;
  // The longest name that a binding can have; whether that of the Work fits depends on its hash.
  std::string name;
  for (char letter = 'a'; letter <= 'z'; ++letter) {
    name = std::string(243, letter);
    if (api::WorkName("ConfigMap", name, p.ns).size() > 253) break;
  }
  REQUIRE(api::BindingName("ConfigMap", name).size() == 253);
  p.plane.Apply("host", In(p.ns, R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: all, namespace: $NS}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, labelSelector: {matchLabels: {name: any}}}]
  placement: {clusterAffinity: {clusterNames: [member1, member2]}}
)"));
  const auto apply = [&](const std::string& config_map) {
    p.plane.Apply(
        "host",
        In(p.ns, absl::StrCat("apiVersion: v1\nkind: ConfigMap\nmetadata: ",
                              "{namespace: $NS, labels: {name: any}, name: ", config_map, "}\n")));
  };
  apply(name);
  apply("short");
  CHECK(p.plane.Eventually([&] {
    const std::string events = p.plane.EventsOn(kConfigMap, name);
    return absl::StrContains(events, "SyncWorkFailed") &&
           absl::StrContains(events, "cluster member1: the name of the Work of ConfigMap") &&
           absl::StrContains(events, "at most 242 characters");
  }));
  const kube::ObjectKey binding = {p.ns, absl::StrCat(name, "-configmap")};
  CHECK(p.plane.Exists("host", kBinding, binding));
  CHECK(p.plane.Eventually([&] { return p.plane.Exists("member2", kConfigMap, {p.ns, "short"}); }));
  // Whoever works on this plane later would try to make the Work for ever.
  p.plane.Delete("host", kConfigMap, {p.ns, name});
  CHECK(p.plane.Eventually([&] { return !p.plane.Exists("host", kBinding, binding); }));
}

TEST_CASE("A template that is deleted while its policy is being changed leaves nothing behind",
          "[pull]") {
  Plane p;
  p.plane.Apply("host", In(p.ns, kSettingsPolicy));
  for (int i = 0; i < 5; ++i) {
    p.plane.Apply("host", In(p.ns, Settings("first")));
    REQUIRE(p.Reads("member1", "first"));
    const char* clusters = i % 2 == 0 ? "member2" : "member1\",\"member2";
    p.plane.Patch("host", kPolicy, {p.ns, "settings"},
                  absl::StrCat(R"({"spec":{"placement":{"clusterAffinity":{"clusterNames":[")",
                               clusters, R"("]}}}})"));
    p.plane.Delete("host", kConfigMap, {p.ns, "settings"});
    p.plane.Patch(
        "host", kPolicy, {p.ns, "settings"},
        R"({"spec":{"placement":{"clusterAffinity":{"clusterNames":["member1","member2"]}}}})");
    REQUIRE(p.plane.Eventually([&] {
      return !p.plane.Exists("member1", kConfigMap, {p.ns, "settings"}) &&
             !p.plane.Exists("member2", kConfigMap, {p.ns, "settings"}) &&
             !p.plane.Exists("host", kBinding, {p.ns, "settings-configmap"}) &&
             !p.plane.Exists("host", kWork, p.WorkKey("ConfigMap", "settings"));
    }));
  }
}

}  // namespace tests
