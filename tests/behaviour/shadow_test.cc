// With --shadow everything is computed and nothing is written: not by a shadow of a plane that is
// settled, and not by one that would have work to do. On simulated servers only, because these
// count the requests of each client.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "api/programs.h"
#include "kube/http/http_transport.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

// --metrics-bind-address of the plane comes first; the last value counts.
const std::vector<std::string> kShadowFlags = {"--shadow", "--metrics-bind-address=127.0.0.1:0"};

struct ShadowPlane {
  ControlPlane plane;
  std::string ns = plane.UniqueNamespace("shadow");

  std::vector<sandbox::ApiServer*> Servers() {
    return {&plane.fleet()->control_plane(), plane.fleet()->member("member1"),
            plane.fleet()->member("member2")};
  }
  // Returns how many requests of controller managers were not reads. The last path segment of a
  // review is its resource.
  int64_t Writes() {
    int64_t writes = 0;
    for (sandbox::ApiServer* server : Servers()) {
      for (const sandbox::RequestCount& count : server->Requests()) {
        const bool is_read = count.verb == "get" || count.verb == "list" || count.verb == "watch" ||
                             absl::EndsWith(count.resource, "reviews");
        if (absl::StartsWith(count.client, api::kControllerManager) && !is_read) {
          writes += count.count;
        }
      }
    }
    return writes;
  }
  int64_t Reads() {
    int64_t reads = 0;
    for (sandbox::ApiServer* server : Servers()) {
      for (const sandbox::RequestCount& count : server->Requests()) {
        if (absl::StartsWith(count.client, api::kControllerManager)) reads += count.count;
      }
    }
    return reads;
  }

  // Returns the numbers of writes and reads before the shadow's first request.
  std::pair<int64_t, int64_t> StartShadow() {
    plane.StopDaemon();
    log_before_ = plane.DaemonLog().size();
    const std::pair<int64_t, int64_t> before = {Writes(), Reads()};
    plane.StartDaemon(kShadowFlags);
    REQUIRE(plane.Eventually([&] { return Port() != 0; }));
    return before;
  }
  std::string Log() { return plane.DaemonLog().substr(log_before_); }
  int Port() {
    const std::string log = Log(), key = " metrics=";
    const size_t at = log.find(key);
    return at == std::string::npos ? 0 : std::atoi(log.c_str() + at + key.size());
  }
  std::string Fetch(const std::string& path) {
    kube::ConnectionConfig config;
    config.server = absl::StrCat("http://127.0.0.1:", Port());
    const auto answer =
        kube::NewHttpTransport(config).value()->Send({.method = "GET", .path = path}, {});
    return answer.ok() ? answer->body : "";
  }
  json::Value Page() {
    const auto page = json::Parse(Fetch("/shadow"));
    return page.ok() ? *page : json::Value();
  }
  std::vector<std::string> Reports() {
    std::vector<std::string> reports;
    for (const absl::string_view line : absl::StrSplit(Log(), '\n')) {
      if (absl::StrContains(line, "shadow: this write would be made")) reports.emplace_back(line);
    }
    return reports;
  }

 private:
  size_t log_before_ = 0;
};

}  // namespace

TEST_CASE_METHOD(ShadowPlane, "A shadow of a settled plane has nothing to report", "[sandbox]") {
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.Apply("host", In(ns, WebDeployment()));
  plane.Apply("host", In(ns, Settings("v")));
  plane.Apply("host", In(ns, kSettingsPolicy));
  plane.Apply("host", In(ns, R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web, namespace: $NS}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web}]
  placement: {clusterAffinity: {clusterNames: [member1]}}
)"));
  const auto state = [&] {
    std::string text;
    for (const char* name : {"web-deployment", "settings-configmap"}) {
      const auto binding = plane.Get("host", kBinding, {ns, name});
      absl::StrAppend(&text, binding ? json::Write(binding->root()) : "");
    }
    const auto web = plane.Get("host", kDeployment, {ns, "web"});
    return absl::StrCat(text, web ? json::Write(web->root()) : "");
  };
  REQUIRE(plane.Eventually([&] { return absl::StrContains(state(), "\"readyReplicas\":2"); }));
  REQUIRE(plane.Eventually([&] { return SettingIn(plane, "member2", ns) == "v"; }));
  REQUIRE(plane.Settles(state, absl::Seconds(3)));
  const auto [writes, reads] = StartShadow();
  // The first round is longer than a write is held.
  CHECK(plane.Eventually([&] { return Page()["rounds"].AsInt() > 0; }, absl::Seconds(90)));
  CHECK(plane.Eventually([&] { return Page()["held"].AsInt() == 0; }, absl::Seconds(90)));
  CHECK(plane.Eventually([&] { return Page()["failing"].AsInt() == 0; }, absl::Seconds(90)));
  INFO(json::Write(Page()));
  CHECK(Page()["failing"].is_int());
  CHECK(Page()["outstanding"].is_int());
  CHECK(Page()["outstanding"].AsInt() == 0);
  CHECK(Page()["unanswered"].is_int());
  CHECK(Page()["unanswered"].AsInt() == 0);
  CHECK(Reports().empty());
  CHECK(Writes() == writes);
  CHECK(Reads() > reads);
}

TEST_CASE_METHOD(ShadowPlane, "A shadow names the binding that it would make, and makes none",
                 "[sandbox]") {
  plane.Apply("host", In(ns, kNamespaceYaml));
  REQUIRE(plane.Eventually([&] { return plane.Exists("member1", kNamespace, {"", ns}); }));
  const int64_t writes = StartShadow().first;
  plane.Apply("host", In(ns, Settings("v")));
  plane.Apply("host", In(ns, kSettingsPolicy));
  const auto map = plane.Get("host", kConfigMap, {ns, "settings"});
  const auto policy = plane.Get("host", kPolicy, {ns, "settings"});
  REQUIRE(map);
  REQUIRE(policy);
  const auto creates_binding = [&] {
    for (const json::Value& write : Page()["writes"].items()) {
      if (write["kind"].AsString() == "ResourceBinding" && write["verb"].AsString() == "create" &&
          write["namespace"].AsString() == ns && write["name"].AsString() == "settings-configmap") {
        return true;
      }
    }
    return false;
  };
  REQUIRE(plane.Eventually(creates_binding, absl::Seconds(60)));
  CHECK(absl::StrContains(Fetch("/metrics"),
                          "karmada_shadow_writes_total{cluster=\"karmada-apiserver\",kind="
                          "\"ResourceBinding\",verb=\"create\"} 1"));
  CHECK(plane.Always(creates_binding, absl::Seconds(5)));
  std::map<std::string, int> lines;
  for (const std::string& report : Reports()) ++lines[report.substr(report.find("shadow:"))];
  for (const auto& [line, count] : lines) {
    INFO(line);
    CHECK(count == 1);
  }
  CHECK(lines.size() < 10);
  CHECK(std::any_of(lines.begin(), lines.end(), [&](const auto& entry) {
    return absl::StrContains(entry.first,
                             absl::StrCat("ResourceBinding ", ns, "/settings-configmap"));
  }));
  // Repeated attempts would show here.
  for (const json::Value& write : Page()["writes"].items()) {
    INFO(json::Write(write));
    CHECK(write["attempts"].AsInt() < 10);
  }
  CHECK_FALSE(plane.Exists("host", kBinding, {ns, "settings-configmap"}));
  CHECK(plane.Get("host", kConfigMap, {ns, "settings"})->resource_version() ==
        map->resource_version());
  CHECK(plane.Get("host", kPolicy, {ns, "settings"})->resource_version() ==
        policy->resource_version());
  CHECK(Writes() == writes);
  const std::string settings = Fetch("/configz");
  CHECK(absl::StrContains(settings, "\"shadow\":\"true\""));
  CHECK(absl::StrContains(settings, "--shadow: nothing is written"));
  CHECK(absl::StrContains(Log(), "there is no leader election"));

  // The shadow has left nothing that a controller manager would stumble over.
  plane.StopDaemon();
  plane.StartDaemon();
  CHECK(plane.Eventually([&] { return SettingIn(plane, "member1", ns) == "v"; }));
}

}  // namespace tests
