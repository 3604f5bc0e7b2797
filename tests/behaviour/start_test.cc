// The log at the start and about clusters, for operators who take over a control plane.
#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/keys.h"
#include "api/names.h"
#include "base/files.h"
#include "kube/http/http_transport.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

constexpr char kWebPolicy[] = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web, namespace: $NS}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web}]
  placement: {clusterAffinity: {clusterNames: [member1, member2]}}
)";

bool Logs(ControlPlane& plane, const char* text) {
  return plane.Eventually([&] { return absl::StrContains(plane.DaemonLog(), text); });
}

// Returns the port on which the daemon's log says it serves something; 0 until then.
int PortOf(ControlPlane& plane, const std::string& server) {
  const std::string log = plane.DaemonLog();
  const size_t at = log.find(server + "=");
  return at == std::string::npos ? 0 : std::atoi(log.c_str() + at + server.size() + 1);
}

std::string Fetch(int port, const std::string& path) {
  kube::ConnectionConfig config;
  config.server = absl::StrCat("http://127.0.0.1:", port);
  const auto transport = kube::NewHttpTransport(config);
  REQUIRE(transport.ok());
  const auto answer = (*transport)->Send({.method = "GET", .path = path}, {});
  return answer.ok() ? answer->body : answer.status().ToString();
}

// Returns the first line that begins with `prefix`; "" when there is none.
std::string LineWith(const std::string& text, const std::string& prefix) {
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::StartsWith(line, prefix)) return std::string(line);
  }
  return "";
}

std::string ReadSource(const std::string& path) {
  return base::ReadFile(absl::StrCat(KM_SOURCE, "/", path)).value();
}

}  // namespace

TEST_CASE("Every metric that is served is described in docs/metrics.md", "[sandbox]") {
  ControlPlane plane({.daemon_flags = {"--metrics-bind-address=127.0.0.1:0"}});
  const std::string ns = plane.UniqueNamespace("metrics");
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.Apply("host", In(ns, Settings("v")));
  plane.Apply("host", In(ns, kSettingsPolicy));
  REQUIRE(plane.Eventually([&] { return plane.Exists("member1", kConfigMap, {ns, "settings"}); }));
  const std::string page = ReadSource("docs/metrics.md");
  std::string metrics;
  const auto serves = [&](const char* name) {
    return absl::StrContains(metrics, absl::StrCat("# TYPE ", name, " "));
  };
  // They are observed when the passes that have made the object end.
  const char* const timed[] = {"pool_get_operation_total", "pool_put_operation_total",
                               "binding_sync_work_duration_seconds",
                               "work_sync_workload_duration_seconds"};
  plane.Eventually([&] {
    metrics = Fetch(PortOf(plane, " metrics"), "/metrics");
    return std::all_of(std::begin(timed), std::end(timed), serves);
  });
  int families = 0;
  for (const absl::string_view line : absl::StrSplit(metrics, '\n')) {
    if (!absl::StartsWith(line, "# TYPE ")) continue;
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    const bool of_process = absl::StartsWith(words.at(2), "process_");
    INFO(words.at(2));
    CHECK(absl::StrContains(page, absl::StrCat("`", of_process ? "process_*" : words.at(2), "`")));
    ++families;
  }
  CHECK(families > 20);
  for (const char* name : timed) {
    INFO(name);
    CHECK(serves(name));
  }
  // The labels are upstream's.
  const std::string build = LineWith(metrics, "karmada_build_info{");
  for (const char* label : {"git_version", "git_commit", "git_short_commit", "git_tree_state",
                            "build_date", "go_version", "compiler", "platform"}) {
    INFO(label << " in " << build);
    CHECK(std::regex_search(build, std::regex(absl::StrCat("[{,]", label, "=\""))));
  }
}

TEST_CASE("The time from an edit to its arrival in the last cluster is a metric", "[sandbox]") {
  ControlPlane plane({.daemon_flags = {"--metrics-bind-address=127.0.0.1:0"}});
  const std::string ns = plane.UniqueNamespace("times");
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.Apply("host", In(ns, WebDeployment()));
  plane.Apply("host", In(ns, kWebPolicy));
  const auto replicas = [&](const std::string& member) {
    const auto there = plane.Get(member, kDeployment, {ns, "web"});
    return there ? there->Get({"spec", "replicas"}).AsInt() : 0;
  };
  const auto have = [&](int64_t wanted) {
    return replicas("member1") == wanted && replicas("member2") == wanted;
  };
  const auto timed = [&] {
    return LineWith(Fetch(PortOf(plane, " metrics"), "/metrics"),
                    "karmada_edit_to_applied_seconds_count{");
  };
  REQUIRE(plane.Eventually([&] { return have(2); }));
  CHECK(timed().empty());  // The creation is no edit.
  plane.Patch("host", kDeployment, {ns, "web"}, R"({"spec": {"replicas": 3}})");
  REQUIRE(plane.Eventually([&] { return have(3); }));
  CHECK(plane.Eventually(
      [&] { return timed() == "karmada_edit_to_applied_seconds_count{kind=\"Deployment\"} 1"; }));
}

TEST_CASE("A stop ends in time although no server answers any more", "[sandbox]") {
  ControlPlane plane({.members = 1,
                      .daemon_flags = {"--metrics-bind-address=127.0.0.1:0",
                                       "--cluster-status-update-frequency=1s"}});
  const int port = PortOf(plane, " metrics");
  REQUIRE(plane.Eventually([&] { return plane.Exists("member1", kNamespace, {"", "default"}); }));
  sandbox::Faults& faults = plane.fleet()->control_plane().faults();
  faults.SetLatency(absl::Hours(1));
  plane.fleet()->member("member1")->faults().SetLatency(absl::Hours(1));
  const auto someone_waits = [&] {
    const std::string metrics = Fetch(port, "/metrics");
    for (const absl::string_view line : absl::StrSplit(metrics, '\n')) {
      if (absl::StartsWith(line, "controller_runtime_active_workers{") &&
          !absl::EndsWith(line, " 0")) {
        return true;
      }
    }
    return false;
  };
  REQUIRE(plane.Eventually(someone_waits));
  plane.StopDaemon();  // A program that takes longer than its limit ends with 1, which fails here.
  faults.SetLatency(absl::ZeroDuration());
}

TEST_CASE("Readiness is lost with the API server and comes back with it", "[sandbox]") {
  ControlPlane plane({.daemon_flags = {"--health-probe-bind-address=127.0.0.1:0"}});
  const int port = PortOf(plane, " health");
  const auto answer = [&] { return Fetch(port, "/readyz?verbose"); };
  CHECK(plane.Eventually([&] { return absl::StrContains(answer(), "readyz check passed"); }));
  CHECK(absl::StrContains(answer(), "[+]leader-election ok: leader"));
  plane.fleet()->control_plane().faults().SetPartitioned(true);
  CHECK(plane.Eventually([&] { return absl::StrContains(answer(), "[-]api-server failed"); }));
  CHECK(Fetch(port, "/healthz") == "ok");
  plane.fleet()->control_plane().faults().SetPartitioned(false);
  CHECK(plane.Eventually([&] { return absl::StrContains(answer(), "readyz check passed"); }));
}

TEST_CASE("Flags without effect and controllers that are off are named in the log", "[sandbox]") {
  ControlPlane plane({.daemon_flags = {"--log-dir=/x", "--controllers=*,-bindingStatus",
                                       "--feature-gates=MultiClusterService=true"}});
  CHECK(Logs(plane, "karmada-controller-manager starts version="));
  CHECK(Logs(plane, " commit="));
  CHECK(Logs(plane, "flags=\"--kubeconfig="));
  CHECK(Logs(plane, "gates=\"MultiClusterService=true\""));
  CHECK(Logs(plane, "--log-dir=/x has no effect: every line is written to standard error"));
  CHECK(Logs(plane, " off=bindingStatus "));
  plane.StopDaemon();
  const std::string log = plane.DaemonLog();
  for (const absl::string_view line : absl::StrSplit(log, '\n')) {
    if (!absl::StrContains(line, "] controllers on=")) continue;
    INFO(line);
    CHECK(line.size() < 200);  // Their names are for --v=2.
  }
}

TEST_CASE("Clusters that come, go and fail are one line each", "[sandbox]") {
  ControlPlane plane;
  plane.fleet()->member("member2")->faults().SetPartitioned(true);
  CHECK(Logs(plane,
             "cluster is not ready cluster=member2 status=False "
             "reason=ClusterNotReachable"));
  CHECK(Logs(plane, "a cluster is not reachable cluster=member2 error=\"UNAVAILABLE: "));
  plane.fleet()->member("member2")->faults().SetPartitioned(false);
  CHECK(Logs(plane, "cluster is ready cluster=member2"));
  plane.Apply("host", R"(
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: far}
spec: {syncMode: Pull}
)");
  CHECK(Logs(plane, "cluster joined cluster=far mode=Pull"));
  // Without a finalizer the cluster would be gone at once and never be logged as leaving.
  REQUIRE(plane.Eventually([&] {
    const auto far = plane.Get("host", kCluster, {"", "far"});
    return far && far->HasFinalizer(api::kClusterFinalizer);
  }));
  plane.Delete("host", kCluster, {"", "far"});
  CHECK(Logs(plane, "cluster is leaving cluster=far"));
  CHECK(Logs(plane, "cluster left cluster=far"));
}

TEST_CASE("A cluster that joins causes no errors in the log", "[sandbox]") {
  ControlPlane plane;
  plane.Apply("host", R"(
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: far}
spec: {syncMode: Pull}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: forgotten}
spec: {syncMode: Push, apiEndpoint: "https://192.0.2.1"}
)");
  for (const char* cluster : {"far", "forgotten"}) {
    const kube::ObjectKey work{api::ExecutionNamespace(cluster),
                               api::WorkName("Namespace", "shop", "")};
    CHECK(plane.Eventually([&] { return plane.Exists("host", kWork, work); }));
  }
  CHECK(Logs(plane,
             "cluster is not ready cluster=forgotten status=False reason=StatusCollectionFailed"));
  CHECK(plane.Eventually([&] {
    return absl::StrContains(plane.EventsOn(kCluster, "forgotten"), "spec.secretRef is missing");
  }));
  CHECK_FALSE(absl::StrContains(plane.DaemonLog(),
                                "reconcile failed controller=namespace-sync-controller"));
}

}  // namespace tests
