// Servers fail, lag, cut connections and stop, and no change is lost. On simulated servers only;
// real ones are stopped and started by the end-to-end tests.
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"
#include "api/resources.h"
#include "sandbox/api_server.h"
#include "sandbox/fleet.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

void ApplySettings(ControlPlane& plane, const std::string& ns) {
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.Apply("host", In(ns, kSettingsPolicy));
  plane.Apply("host", In(ns, Settings("first")));
}

void Change(ControlPlane& plane, const std::string& ns, const std::string& value) {
  plane.Patch("host", kConfigMap, {ns, "settings"}, R"({"data":{"k":")" + value + R"("}})");
}

bool IsEverywhere(ControlPlane& plane, const std::string& ns, const std::string& value) {
  return SettingIn(plane, "member1", ns) == value && SettingIn(plane, "member2", ns) == value;
}

// Returns the versions of all objects of the kind in a namespace of the control plane.
std::string VersionsIn(ControlPlane& plane, const kube::Resource& r, const std::string& ns) {
  const auto page = plane.client("host").List(r, ns, {}, {});
  REQUIRE(page.ok());
  std::string all;
  for (const kube::Object& object : page->items) {
    all += absl::StrCat(object.name(), " ", object.resource_version(), "\n");
  }
  return all;
}

bool IsReady(ControlPlane& plane, const std::string& member) {
  const auto cluster = plane.Get("host", kCluster, {"", member});
  return cluster && kube::IsConditionTrue(cluster->status()["conditions"], "Ready");
}

}  // namespace

TEST_CASE("A member that was cut off gets what it missed", "[sandbox]") {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("outage");
  ApplySettings(plane, ns);
  REQUIRE(plane.Eventually([&] { return IsEverywhere(plane, ns, "first"); }));

  sandbox::Faults& faults = plane.fleet()->member("member2")->faults();
  faults.SetPartitioned(true);
  REQUIRE(plane.Eventually([&] { return !IsReady(plane, "member2"); }));
  Change(plane, ns, "second");
  CHECK(plane.Eventually([&] { return SettingIn(plane, "member1", ns) == "second"; }));
  CHECK(IsReady(plane, "member1"));

  faults.SetPartitioned(false);
  CHECK(plane.Eventually([&] { return IsReady(plane, "member2"); }));
  CHECK(plane.Eventually([&] { return IsEverywhere(plane, ns, "second"); }));
}

TEST_CASE("Drift that happened while a member was cut off is put back", "[sandbox]") {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("drifted");
  ApplySettings(plane, ns);
  REQUIRE(plane.Eventually([&] { return IsEverywhere(plane, ns, "first"); }));

  plane.StopDaemon();
  plane.Patch("member1", kConfigMap, {ns, "settings"}, R"({"data":{"k":"theirs"}})");
  plane.Delete("member2", kConfigMap, {ns, "settings"});
  plane.StartDaemon();
  CHECK(plane.Eventually([&] { return IsEverywhere(plane, ns, "first"); }));
}

TEST_CASE("Works wait until it is known how to reach the members", "[sandbox]") {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("secrets");
  ApplySettings(plane, ns);
  const auto binding = [&] { return plane.Get("host", kBinding, {ns, "settings-configmap"}); };
  REQUIRE(plane.Eventually([&] {
    return IsEverywhere(plane, ns, "first") && binding() &&
           kube::IsConditionTrue(binding()->Get({"status", "conditions"}), "FullyApplied");
  }));
  const auto written = [&] {
    return VersionsIn(plane, api::ResourceBindings(), ns) +
           VersionsIn(plane, api::Works(), "karmada-es-member1") +
           VersionsIn(plane, api::Events(), ns);
  };
  // The scheduler may still write something, and so may who takes in the status of other objects.
  REQUIRE(plane.Settles(written, absl::Seconds(2)));
  plane.StopDaemon();
  const std::string before = written();
  plane.fleet()->control_plane().faults().FailNext(3, 500, "GET", "/secrets");
  plane.StartDaemon();
  plane.Always([&] { return written() == before; }, absl::Seconds(3));
  CHECK(written() == before);
  Change(plane, ns, "second");
  CHECK(plane.Eventually([&] { return IsEverywhere(plane, ns, "second"); }));
}

TEST_CASE("A control plane that fails now and then delays and loses nothing", "[sandbox]") {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("faults");
  sandbox::Faults& faults = plane.fleet()->control_plane().faults();
  SECTION("writes are refused") {
    faults.FailNext(8, 500, "POST", "/works");
    faults.FailNext(8, 500, "PATCH", "/status");
    ApplySettings(plane, ns);
  }
  SECTION("requests are throttled") {
    faults.FailNext(3, 429, "", "/works");
    ApplySettings(plane, ns);
  }
  SECTION("writes meet conflicts") {
    faults.FailNext(5, 409, "PATCH", "karmada.io");
    ApplySettings(plane, ns);
  }
  SECTION("watches are cut and their history is gone") {
    ApplySettings(plane, ns);
    faults.ExpireHistory();
    faults.DropWatches();
  }
  SECTION("answers are slow") {
    faults.SetLatency(absl::Milliseconds(100));
    ApplySettings(plane, ns);
  }
  CHECK(plane.Eventually([&] { return IsEverywhere(plane, ns, "first"); }));
  Change(plane, ns, "second");
  CHECK(plane.Eventually([&] { return IsEverywhere(plane, ns, "second"); }));
  CHECK(plane.Eventually([&] {
    const auto binding = plane.Get("host", kBinding, {ns, "settings-configmap"});
    return binding && kube::IsConditionTrue(binding->Get({"status", "conditions"}), "FullyApplied");
  }));
}

TEST_CASE("A server that is restored from a backup is followed", "[sandbox]") {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("restored");
  ApplySettings(plane, ns);
  plane.Apply("host", In(ns, WebDeployment()));
  plane.Apply("host", In(ns, DividedPolicy(kWebSelector, 1, 1)));
  const auto ready = [&] {
    const auto web = plane.Get("host", kDeployment, {ns, "web"});
    return web ? web->Get({"status", "readyReplicas"}).AsInt() : 0;
  };
  REQUIRE(plane.Eventually([&] { return IsEverywhere(plane, ns, "first") && ready() > 0; }));
  const std::string restored = GENERATE(as<std::string>(), "host", "member1", "all");
  std::vector<sandbox::Faults*> servers;
  if (restored != "member1") servers.push_back(&plane.fleet()->control_plane().faults());
  if (restored != "host") servers.push_back(&plane.fleet()->member("member1")->faults());
  for (sandbox::Faults* server : servers) server->Backup();
  Change(plane, ns, "second");
  plane.Apply("host", In(ns, R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: later, namespace: $NS}
data: {k: unknown to the backup}
)"));
  REQUIRE(plane.Eventually([&] { return IsEverywhere(plane, ns, "second"); }));

  for (sandbox::Faults* server : servers) server->Restore();
  // The present content of the control plane counts: the older state if it was restored itself.
  const std::string now = restored == "member1" ? "second" : "first";
  CHECK(plane.Eventually([&] { return IsEverywhere(plane, ns, now); }));

  plane.Patch("member1", kConfigMap, {ns, "settings"}, R"({"data":{"k":"theirs"}})");
  CHECK(plane.Eventually([&] { return IsEverywhere(plane, ns, now); }));
  plane.Delete("member2", kConfigMap, {ns, "settings"});
  CHECK(plane.Eventually([&] { return IsEverywhere(plane, ns, now); }));
  Change(plane, ns, "third");
  CHECK(plane.Eventually([&] { return IsEverywhere(plane, ns, "third"); }));
  plane.Patch("host", kDeployment, {ns, "web"}, R"({"spec":{"replicas":7}})");
  CHECK(plane.Eventually([&] { return ready() >= 7; }));
}

}  // namespace tests
