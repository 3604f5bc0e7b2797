// What others see of drift, of deleted objects and of labels that are removed in members, as each
// release of Karmada; and that the way from one release to the other and back writes nothing.
#include <cstdlib>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/resources.h"
#include "kube/http/http_transport.h"
#include "sandbox/api_server.h"
#include "sandbox/fleet.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

constexpr char kV118[] = "--emulated-karmada-version=v1.18";
constexpr char kV119[] = "--emulated-karmada-version=v1.19";

// A ConfigMap that is propagated to both members.
struct Town {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("release");
  const kube::ObjectKey key{ns, "settings"};

  explicit Town(std::vector<std::string> flags) : plane({.daemon_flags = std::move(flags)}) {
    plane.Apply("host", In(ns, kNamespaceYaml));
    plane.Apply("host", In(ns, Settings("first")));
    plane.Apply("host", In(ns, kSettingsPolicy));
    REQUIRE(Reads("first"));
    REQUIRE(plane.Eventually([&] { return Applied("reason") == "AppliedSuccessful"; }));
  }
  bool Reads(const std::string& value) {
    return plane.Eventually([&] {
      return SettingIn(plane, "member1", ns) == value && SettingIn(plane, "member2", ns) == value;
    });
  }
  // Returns a field of the condition Applied of member1's Work.
  std::string Applied(const char* field) {
    const auto work =
        plane.Get("host", kWork,
                  {api::ExecutionNamespace("member1"), api::WorkName("ConfigMap", "settings", ns)});
    if (!work) return "";
    const json::Value* applied = kube::FindCondition(work->status()["conditions"], "Applied");
    return applied == nullptr ? "" : (*applied)[field].ToString();
  }
  bool EndsAs(const std::string& reason) {
    return plane.Eventually([&] { return Applied("reason") == reason; });
  }
  // Returns how often the component has reported this on objects of the kind that are the
  // template, or member1's Work of it.
  int64_t Events(const std::string& component, const std::string& kind, const std::string& reason) {
    int64_t count = 0;
    for (const std::string& in : {ns, api::ExecutionNamespace("member1")}) {
      const auto page = plane.client("host").ListAll(api::Events(), in, {}, {});
      REQUIRE(page.ok());
      for (const kube::Object& event : page->items) {
        const std::string name = event.Get({"involvedObject", "name"}).ToString();
        const bool ours = name == "settings" || name == api::WorkName("ConfigMap", "settings", ns);
        if (!ours || event.Get({"involvedObject", "kind"}) != kind.c_str()) continue;
        if (event.Get({"source", "component"}) != component.c_str()) continue;
        if (event.Get({"reason"}) == reason.c_str()) count += event.Get({"count"}).AsInt();
      }
    }
    return count;
  }
  // Deletes the object in member1; returns whether another one has taken its place.
  bool ComesBack() {
    const auto before = plane.Get("member1", kConfigMap, key);
    REQUIRE(before);
    plane.Delete("member1", kConfigMap, key);
    return plane.Eventually([&] {
      const auto now = plane.Get("member1", kConfigMap, key);
      return now && now->uid() != before->uid();
    });
  }
  // Returns the sum of the daemon's series that begin like this and contain `label`.
  double Metric(const std::string& name, const std::string& label) {
    const std::string log = plane.DaemonLog();
    const size_t at = log.find(" metrics=");
    if (at == std::string::npos) return -1;
    kube::ConnectionConfig config;
    config.server = absl::StrCat("http://127.0.0.1:", std::atoi(log.c_str() + at + 9));
    const auto answer =
        kube::NewHttpTransport(config).value()->Send({.method = "GET", .path = "/metrics"}, {});
    if (!answer.ok()) return -1;
    double sum = 0;
    for (const absl::string_view line : absl::StrSplit(answer->body, '\n')) {
      if (!absl::StartsWith(line, name + "{") || !absl::StrContains(line, label)) continue;
      sum += std::atof(std::string(line.substr(line.rfind(' '))).c_str());
    }
    return sum;
  }
};

}  // namespace

TEST_CASE("An object that is deleted in a member is made again, and reported as the release does",
          "[sandbox]") {
  const std::string release = GENERATE(kV118, kV119);
  const bool by_work = release == kV119;
  Town town({release, "--metrics-bind-address=127.0.0.1:0", "--success-events=upstream"});
  const auto on_work = [&] { return town.Events("execution-controller", "Work", "SyncSucceed"); };
  REQUIRE(town.plane.Eventually([&] { return on_work() > 0; }));
  const int64_t on_work_before = on_work();
  const double applies =
      town.Metric("work_sync_workload_duration_seconds_count", R"(result="success")");
  REQUIRE(town.ComesBack());
  CHECK(town.EndsAs(by_work ? "AppliedSuccessful" : "ReCreateSuccessful"));
  const char* const component = by_work ? "execution-controller" : "work-status-controller";
  const int64_t members = 2;  // Each has been told of once.
  CHECK(town.plane.Eventually([&] {
    return town.Events(component, "ConfigMap", "SyncSucceed") >= (by_work ? members + 1 : 1);
  }));
  CHECK(town.plane.Eventually([&] { return (on_work() > on_work_before) == by_work; }));
  CHECK((town.Metric("create_resource_to_cluster", R"(recreate="true")") > 0) != by_work);
  if (by_work) {
    CHECK(town.Events("work-status-controller", "ConfigMap", "SyncSucceed") == 0);
    CHECK(town.plane.Eventually([&] {
      return town.Metric("work_sync_workload_duration_seconds_count", R"(result="success")") >
             applies;
    }));
  }
}

TEST_CASE("An object that cannot be made again is reported as the release does", "[sandbox]") {
  const std::string release = GENERATE(kV118, kV119);
  const bool by_work = release == kV119;
  Town town({release});
  sandbox::Faults& faults = town.plane.fleet()->member("member1")->faults();
  faults.FailNext(100000, 403, "POST", absl::StrCat("/namespaces/", town.ns, "/configmaps"),
                  "Forbidden", "not now");
  town.plane.Delete("member1", kConfigMap, town.key);
  CHECK(town.EndsAs(by_work ? "AppliedFailed" : "ReCreateFailed"));
  CHECK(absl::StartsWith(town.Applied("message"), "Failed to apply all manifests (0/1): ") ==
        by_work);
  const char* const component = by_work ? "execution-controller" : "work-status-controller";
  CHECK(
      town.plane.Eventually([&] { return town.Events(component, "ConfigMap", "SyncFailed") > 0; }));
  CHECK(town.plane.Eventually(
      [&] { return (town.Events("execution-controller", "Work", "SyncFailed") > 0) == by_work; }));
  faults.Clear();
  CHECK(town.Reads("first"));
  CHECK(town.EndsAs(by_work ? "AppliedSuccessful" : "ReCreateSuccessful"));
}

TEST_CASE("Drift is put back without the controller workStatus as v1.19 alone", "[sandbox]") {
  const std::string release = GENERATE(kV118, kV119);
  const bool by_work = release == kV119;
  Town town({release, "--controllers=*,-workStatus"});
  town.plane.Patch("member1", kConfigMap, town.key, R"({"data": {"k": "theirs"}})");
  town.plane.Delete("member2", kConfigMap, town.key);
  if (by_work) {
    CHECK(town.Reads("first"));
    return;
  }
  CHECK(town.plane.Always([&] {
    return SettingIn(town.plane, "member1", town.ns) == "theirs" &&
           SettingIn(town.plane, "member2", town.ns).empty();
  }));
}

TEST_CASE("An object that loses Karmada's label is taken back as v1.18, and refused as v1.19",
          "[sandbox]") {
  const std::string release = GENERATE(kV118, kV119);
  const bool by_work = release == kV119;
  Town town({release});
  town.plane.Patch("member1", kConfigMap, town.key,
                   R"({"metadata": {"labels": {"karmada.io/managed": null}}})");
  const auto label = [&] {
    const auto object = town.plane.Get("member1", kConfigMap, town.key);
    return object ? std::string(object->Label(api::kManagedLabel)) : "no object";
  };
  if (!by_work) {
    CHECK(town.plane.Eventually([&] { return label() == api::kManagedValue; }));
    return;
  }
  CHECK(town.EndsAs("AppliedFailed"));
  CHECK(absl::StrContains(town.Applied("message"), "already exists in the cluster member1"));
  CHECK(absl::StrContains(town.Applied("message"), "Karmada will not manage this resource"));
  CHECK(label().empty());
  town.plane.Patch("member1", kConfigMap, town.key,
                   R"({"metadata": {"labels": {"karmada.io/managed": "true"}}})");
  CHECK(town.EndsAs("AppliedSuccessful"));
}

TEST_CASE("A member that does not list a kind gets its objects as v1.19 alone", "[sandbox]") {
  const std::string release = GENERATE(kV118, kV119);
  ControlPlane plane({.daemon_flags = {release}});
  const std::string ns = plane.UniqueNamespace("unlisted");
  sandbox::Faults& faults = plane.fleet()->member("member1")->faults();
  faults.FailNext(100000, 500, "GET", "/api/v1/configmaps");
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.Apply("host", In(ns, Settings("first")));
  plane.Apply("host", In(ns, kSettingsPolicy));
  if (release == kV119) {
    CHECK(plane.Eventually([&] { return SettingIn(plane, "member1", ns) == "first"; }));
    plane.Apply("host", In(ns, Settings("second")));
    CHECK(plane.Eventually([&] { return SettingIn(plane, "member1", ns) == "second"; }));
  } else {
    CHECK(plane.Eventually([&] { return SettingIn(plane, "member2", ns) == "first"; }));
    CHECK(plane.Always([&] { return SettingIn(plane, "member1", ns).empty(); }));
  }
  faults.Clear();
  CHECK(plane.Eventually([&] { return SettingIn(plane, "member1", ns) != ""; }));
}

TEST_CASE("A restart, and the way to v1.19 and back, write nothing", "[sandbox]") {
  Town town({});
  ControlPlane& plane = town.plane;
  plane.StopDaemon();
  plane.StartDaemon({kV118});
  plane.Apply("host", In(town.ns, WebDeployment()));
  plane.Apply("host", In(town.ns, DividedPolicy(kWebSelector, 1, 1)));
  REQUIRE(plane.Eventually([&] {
    const auto web = plane.Get("host", kDeployment, {town.ns, "web"});
    return web && web->status()["readyReplicas"].AsInt() == 2;
  }));
  REQUIRE(town.ComesBack());
  REQUIRE(town.EndsAs("ReCreateSuccessful"));
  // Returns what may be written, with its versions.
  const auto versions = [&] {
    std::string text;
    const kube::Resource deployments{kDeployment, "deployments", true};
    const kube::Resource configs{kConfigMap, "configmaps", true};
    for (const char* cluster : {"host", "member1", "member2"}) {
      for (const auto& r : {api::Works(), api::ResourceBindings(), deployments, configs}) {
        const auto page = plane.client(cluster).ListAll(r, "", {}, {});
        if (!page.ok()) continue;  // Members have no Works.
        for (const kube::Object& object : page->items) {
          if (absl::StartsWith(object.name(), "later")) continue;  // Of AwaitDaemon.
          absl::StrAppend(&text, cluster, " ", object.Describe(), " ", object.resource_version(),
                          "\n");
        }
      }
    }
    return text;
  };
  REQUIRE(plane.Settles(versions, absl::Seconds(3)));
  const std::string before = versions();
  REQUIRE(absl::StrContains(before, "member1 ConfigMap " + town.ns));
  REQUIRE(absl::StrContains(before, "host Work karmada-es-member1"));
  for (const char* release : {kV118, kV119, kV119, kV118}) {
    CAPTURE(release);
    plane.StopDaemon();
    plane.StartDaemon({release});
    plane.AwaitDaemon(town.ns);
    // Longer than statuses are held back.
    CHECK(plane.Always([&] { return versions() == before; }, absl::Seconds(3)));
  }
  // As v1.19 the reason is that of the next thing that is written.
  plane.StopDaemon();
  plane.StartDaemon({kV119});
  plane.AwaitDaemon(town.ns);
  REQUIRE(town.ComesBack());
  CHECK(town.EndsAs("AppliedSuccessful"));
}

}  // namespace tests
