// Members change credentials and endpoints, refuse writes, or lose kinds: objects that belong there
// still get there, and others are removed.
#include <optional>
#include <string>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/resources.h"
#include "sandbox/api_server.h"
#include "sandbox/fleet.h"
#include "tests/behaviour/manifests.h"
#include "tests/behaviour/membership.h"
#include "tests/support/control_plane.h"
#include "tests/support/relay.h"

namespace tests {
namespace {

struct Settled {
  ControlPlane plane;
  std::string ns = plane.UniqueNamespace("members");

  Settled() { plane.Apply("host", In(ns, kNamespaceYaml)); }

  bool Reads(const std::string& member, const std::string& value) {
    return plane.Eventually([&] { return SettingIn(plane, member, ns) == value; });
  }
  // Propagates the settings to both members.
  void ApplySettings() {
    plane.Apply("host", In(ns, Settings("first")));
    plane.Apply("host", In(ns, kSettingsPolicy));
  }
  // Returns the message of an event in the test's namespace; "" when there is none yet.
  std::string EventWith(const std::string& reason, const std::string& kind) {
    const auto events = plane.client("host").List(api::Events(), ns, {}, {});
    if (!events.ok()) return "";
    for (const kube::Object& event : events->items) {
      if (event.Get({"reason"}).AsString() != reason) continue;
      if (event.Get({"involvedObject", "kind"}).AsString() != kind) continue;
      return event.Get({"message"}).ToString();
    }
    return "";
  }
  std::optional<kube::Object> WorkIn(const std::string& member) {
    return plane.Get("host", kWork,
                     {api::ExecutionNamespace(member), api::WorkName("ConfigMap", "settings", ns)});
  }
  // Returns whether the Work for member1 and an event report that the member denies it.
  bool IsReported(const std::string& denial) {
    return plane.Eventually([&] {
      const auto work = WorkIn("member1");
      if (!work) return false;
      const json::Value* applied =
          kube::FindCondition(work->Get({"status", "conditions"}), "Applied");
      return applied != nullptr && (*applied)["status"].AsString() == "False" &&
             absl::StrContains((*applied)["message"].AsString(), denial) &&
             absl::StrContains(EventWith("SyncFailed", "ConfigMap"), denial);
    });
  }
};

}  // namespace

TEST_CASE("A healthy member whose credentials or endpoint change is followed as before",
          "[sandbox]") {
  Settled s;
  s.plane.Apply("host", In(s.ns, WebDeployment()));
  s.plane.Apply("host", In(s.ns, DividedPolicy(kWebSelector, 1, 1)));
  s.ApplySettings();
  REQUIRE(s.Reads("member1", "first"));
  const auto ready = [&] {
    const auto web = s.plane.Get("host", kDeployment, {s.ns, "web"});
    return web ? web->Get({"status", "readyReplicas"}).AsInt() : 0;
  };
  REQUIRE(s.plane.Eventually([&] { return ready() == 2; }));

  SECTION("a rotated token") { RotateToken(s.plane, "member1"); }
  const int port = PortOf(s.plane, "member1");
  SECTION("another endpoint") {
    MoveEndpoint(s.plane, "member1", absl::StrCat("https://localhost:", port));
  }
  SECTION("an endpoint in capitals") {
    MoveEndpoint(s.plane, "member1", absl::StrCat("https://LOCALHOST:", port));
  }
  std::optional<Relay> relay;
  SECTION("an endpoint with an address of IPv6") {
    relay.emplace(port);
    MoveEndpoint(s.plane, "member1", absl::StrCat("https://[::1]:", relay->port()));
  }
  SECTION("endpoint and token, one after the other") {
    MoveEndpoint(s.plane, "member1", absl::StrCat("https://localhost:", port));
    RotateToken(s.plane, "member1");
  }

  s.plane.Patch("member1", kConfigMap, {s.ns, "settings"}, R"({"data":{"k":"theirs"}})");
  CHECK(s.Reads("member1", "first"));
  s.plane.Delete("member1", kConfigMap, {s.ns, "settings"});
  CHECK(s.Reads("member1", "first"));
  s.plane.Patch("host", kDeployment, {s.ns, "web"}, R"({"spec":{"replicas":4}})");
  CHECK(s.plane.Eventually([&] { return ready() == 4; }));
  if (relay) CHECK(relay->connections() > 0);
}

TEST_CASE("A member that denies with the code of a conflict is reported, and holds up no other",
          "[sandbox][pull]") {
  Settled s;
  const std::string path = absl::StrCat("/namespaces/", s.ns, "/configmaps");
  const std::string denial = R"(admission webhook "guard" denied the request)";
  sandbox::Faults& faults = s.plane.fleet()->member("member1")->faults();
  SECTION("as a conflict") { faults.FailNext(100000, 409, "POST", path, "Conflict", denial); }
  SECTION("for a reason of its own") {
    faults.FailNext(100000, 409, "POST", path, "Taken", denial);
  }
  s.ApplySettings();
  CHECK(s.Reads("member2", "first"));
  CHECK(s.IsReported(denial));
  faults.Clear();
  CHECK(s.Reads("member1", "first"));
}

TEST_CASE("A cluster that joins later gets the namespaces that are there", "[sandbox]") {
  Settled s;
  const auto work_for = [&](const std::string& cluster) {
    return s.plane.Exists("host", kWork,
                          {api::ExecutionNamespace(cluster), api::WorkName("Namespace", s.ns, "")});
  };
  REQUIRE(s.plane.Eventually([&] { return work_for("member1"); }));
  s.plane.Apply("host", R"(
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: late}
spec: {syncMode: Pull}
)");
  CHECK(s.plane.Eventually([&] { return work_for("late"); }));
}

TEST_CASE("A cluster can be removed although the policy of what is there was deleted",
          "[sandbox]") {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("released");
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.Apply("host", In(ns, Settings("v")));
  plane.Apply("host", In(ns, kSettingsPolicy));
  REQUIRE(plane.Eventually([&] { return SettingIn(plane, "member2", ns) == "v"; }));
  plane.Delete("host", kPolicy, {ns, "settings"});
  REQUIRE(plane.Eventually([&] {
    const auto binding = plane.Get("host", kBinding, {ns, "settings-configmap"});
    return binding && binding->Label(api::kPropagationPolicyIdLabel).empty();
  }));
  Leave(plane, "member2");
  CHECK(plane.Eventually([&] { return !plane.Exists("host", kCluster, {"", "member2"}); }));
  CHECK(SettingIn(plane, "member1", ns) == "v");
}

TEST_CASE("A deletion that a member denies is reported on the Work and the template",
          "[sandbox][pull]") {
  Settled s;
  const std::string denial = R"(admission webhook "guard" denied the request)";
  s.ApplySettings();
  REQUIRE(s.Reads("member1", "first"));
  sandbox::Faults& faults = s.plane.fleet()->member("member1")->faults();
  const int code = GENERATE(403, 409);
  faults.FailNext(100000, code, "DELETE", absl::StrCat("/namespaces/", s.ns, "/configmaps"),
                  "Denied", denial);
  s.plane.Patch("host", kPolicy, {s.ns, "settings"},
                R"({"spec":{"placement":{"clusterAffinity":{"clusterNames":["member2"]}}}})");
  CHECK(s.IsReported(denial));
  CHECK(s.plane.Exists("member1", kConfigMap, {s.ns, "settings"}));
  faults.Clear();
  CHECK(s.plane.Eventually([&] {
    return !s.plane.Exists("member1", kConfigMap, {s.ns, "settings"});
  }));
  CHECK(s.plane.Eventually([&] { return !s.WorkIn("member1").has_value(); }));
}

TEST_CASE("A Work that is denied with the code of a conflict is reported, and holds up no other",
          "[sandbox][pull]") {
  Settled s;
  const std::string denial = R"(admission webhook "guard" denied the request)";
  sandbox::Faults& faults = s.plane.fleet()->control_plane().faults();
  faults.FailNext(100000, 409, "POST", "/namespaces/karmada-es-member1/works", "Conflict", denial);
  s.plane.Apply("host", In(s.ns, Settings("first")));
  s.plane.Apply("member2", In(s.ns, kNamespaceYaml));
  s.plane.Apply("host", In(s.ns, kSettingsPolicy));
  CHECK(s.Reads("member2", "first"));
  CHECK(s.plane.Eventually(
      [&] { return absl::StrContains(s.EventWith("SyncWorkFailed", "ConfigMap"), denial); }));
  faults.Clear();
  CHECK(s.Reads("member1", "first"));
}

TEST_CASE("Drift that cannot be put back because of conflicts is logged", "[sandbox]") {
  Settled s;
  s.ApplySettings();
  REQUIRE(s.Reads("member1", "first"));
  s.plane.StopDaemon();
  s.plane.Patch("member1", kConfigMap, {s.ns, "settings"}, R"({"data":{"k":"theirs"}})");
  sandbox::Faults& faults = s.plane.fleet()->member("member1")->faults();
  faults.FailNext(100000, 409, "PATCH", absl::StrCat("/namespaces/", s.ns, "/configmaps"));
  const std::string modified =
      absl::StrCat("patch ConfigMap ", s.ns, "/settings: the object has been modified");
  s.plane.StartDaemon();
  CHECK(s.plane.Eventually([&] { return absl::StrContains(s.plane.DaemonLog(), modified); }));
  faults.Clear();
  CHECK(s.Reads("member1", "first"));
}

TEST_CASE("Objects in members go although their definition went first", "[sandbox][pull]") {
  Settled s;
  s.plane.ApplyEverywhere(In(s.ns, Definition("Robot", "robots")));
  s.plane.Apply("host", In(s.ns, R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: robots, namespace: $NS}
spec:
  resourceSelectors: [{apiVersion: $NS.example.io/v1, kind: Robot}]
  placement: {clusterAffinity: {clusterNames: [member1]}}
)"));
  s.plane.Apply("host", In(s.ns, kRobotYaml));
  const kube::Gvk robot = DefinedKind(s.ns, "Robot");
  const kube::ObjectKey one{s.ns, "one"};
  REQUIRE(
      s.plane.Eventually([&] { return s.plane.Exists("member1", robot, one); }, absl::Seconds(90)));

  s.plane.StopDaemon();  // Lets the definition go before the object's deletion is handled.
  s.plane.Delete("host", robot, one);
  s.plane.Delete("host", {"apiextensions.k8s.io", "v1", "CustomResourceDefinition"},
                 {"", absl::StrCat("robots.", s.ns, ".example.io")});
  s.plane.StartDaemon();
  CHECK(s.plane.Eventually([&] { return !s.plane.Exists("member1", robot, one); }));
  CHECK(s.plane.Eventually([&] {
    return !s.plane.Exists("host", kWork,
                           {"karmada-es-member1", api::WorkName("Robot", "one", s.ns)});
  }));
}

TEST_CASE("A change that a member refuses leaves the status of what runs there as it is",
          "[sandbox][pull]") {
  Settled s;
  s.plane.Apply("host", In(s.ns, WebDeployment()));
  s.plane.Apply("host", In(s.ns, DividedPolicy(kWebSelector, 1, 1)));
  // Returns "applied health readyReplicas" of member1 in the binding, and the sum in the template.
  const auto status = [&] {
    const auto binding = s.plane.Get("host", kBinding, {s.ns, "web-deployment"});
    const auto web = s.plane.Get("host", kDeployment, {s.ns, "web"});
    if (!binding || !web) return std::string();
    for (const json::Value& item : binding->Get({"status", "aggregatedStatus"}).items()) {
      if (item["clusterName"].AsString() != "member1") continue;
      return absl::StrCat(item["applied"].AsBool(), " ", item["health"].AsString(), " ",
                          item.Get({"status", "readyReplicas"}).AsInt(), ", ",
                          web->Get({"status", "readyReplicas"}).AsInt());
    }
    return std::string();
  };
  REQUIRE(s.plane.Eventually([&] { return status() == "1 Healthy 1, 2"; }));
  sandbox::Faults& faults = s.plane.fleet()->member("member1")->faults();
  faults.FailNext(100000, 403, "PATCH", absl::StrCat("/namespaces/", s.ns, "/deployments/web"),
                  "Forbidden", "not now");
  s.plane.Patch("host", kDeployment, {s.ns, "web"}, R"({"metadata":{"labels":{"x":"y"}}})");
  CHECK(s.plane.Eventually([&] { return status() == "0 Healthy 1, 2"; }));
  CHECK(s.plane.Always([&] { return status() == "0 Healthy 1, 2"; }));
  faults.Clear();
  CHECK(s.plane.Eventually([&] { return status() == "1 Healthy 1, 2"; }));
}

// The sandbox gives each member three nodes of eight CPUs.
TEST_CASE("The status of a cluster counts its nodes by the models of the Cluster",
          "[sandbox][pull]") {
  ControlPlane plane({.members = 1});
  // Returns the number of nodes of each grade.
  const auto grades = [&] {
    std::string counts;
    const auto cluster = plane.Get("host", kCluster, {"", "member1"});
    for (const json::Value& item :
         cluster->Get({"status", "resourceSummary", "allocatableModelings"}).items()) {
      absl::StrAppend(&counts, item["grade"].AsInt(), ":", item["count"].AsInt(), " ");
    }
    return counts;
  };
  plane.Patch("host", kCluster, {"", "member1"}, R"({"spec":{"resourceModels":[
      {"grade":0,"ranges":[{"name":"cpu","min":"0","max":"4"}]},
      {"grade":1,"ranges":[{"name":"cpu","min":"4","max":"9223372036854775807"}]}]}})");
  CHECK(plane.Eventually([&] { return grades() == "0:0 1:3 "; }));
  plane.Patch("member1", {"", "v1", "Node"}, {"", "member1-node1"},
              R"({"status":{"allocatable":{"cpu":"2"}}})", "status");
  CHECK(plane.Eventually([&] { return grades() == "0:1 1:2 "; }));
  plane.Patch("host", kCluster, {"", "member1"}, R"({"spec":{"resourceModels":[
      {"grade":0,"ranges":[{"name":"cpu","min":"0","max":"1"}]},
      {"grade":1,"ranges":[{"name":"cpu","min":"1","max":"9223372036854775807"}]}]}})");
  CHECK(plane.Eventually([&] { return grades() == "0:0 1:3 "; }));
}

}  // namespace tests
