// karmada-agent serves a cluster in pull mode, beside the controller manager, which serves the push
// ones. The cluster is the sandbox's member2: it leaves the control plane, and its agent registers
// it again.
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/keys.h"
#include "api/names.h"
#include "api/resources.h"
#include "base/files.h"
#include "base/random.h"
#include "kube/kubeconfig/self_contained_kubeconfig.h"
#include "sandbox/fleet.h"
#include "tests/behaviour/manifests.h"
#include "tests/behaviour/membership.h"
#include "tests/support/child_process.h"
#include "tests/support/control_plane.h"
#include "tests/support/temp_directory.h"

namespace tests {
namespace {

constexpr char kName[] = "member2";
const kube::Gvk kLease{"coordination.k8s.io", "v1", "Lease"};
const kube::Gvk kService{"", "v1", "Service"};

// What `karmadactl register` lets an agent do in the control plane, as "verb resource".
std::set<std::string> RightsOfAgents() {
  std::set<std::string> rights;
  const auto add = [&rights](const char* resource, std::vector<std::string> verbs) {
    for (const std::string& verb : verbs) rights.insert(absl::StrCat(verb, " ", resource));
  };
  const std::vector<std::string> read = {"get", "list", "watch"};
  add("clusters", {"create", "delete", "get", "list", "watch"});
  add("clusters/status", {"update"});
  add("resourceinterpreterwebhookconfigurations", read);
  add("resourceinterpretercustomizations", read);
  add("namespaces", {"get"});
  add("leases", {"get", "create", "update"});
  add("certificatesigningrequests", {"get", "create"});
  add("services", {"list", "watch"});
  add("events", {"patch", "create", "update"});
  add("secrets", {"get", "patch", "create"});
  add("works", {"get", "create", "list", "watch", "update", "delete"});
  add("works/status", {"patch", "update"});
  return rights;
}

bool IsWrite(const std::string& verb) { return verb != "get" && verb != "list" && verb != "watch"; }

struct Pulled {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("agent");
  const TempDirectory directory;
  const std::string log = absl::StrCat(directory.path(), "/agent.log");
  std::optional<ChildProcess> agent;

  Pulled() {
    Leave(plane, kName);
    REQUIRE(plane.Eventually([&] { return !plane.Exists("host", kCluster, {"", kName}); }));
    plane.Apply("host", In(ns, kNamespaceYaml));
  }

  std::vector<std::string> Command(const std::vector<std::string>& more = {}) {
    const std::string host =
        directory.Write("karmada.kubeconfig", *plane.fleet()->Kubeconfig("karmada"));
    const std::string member =
        directory.Write("member.kubeconfig", *plane.fleet()->Kubeconfig(kName));
    std::vector<std::string> words = {
        KM_AGENT,
        absl::StrCat("--karmada-kubeconfig=", host),
        absl::StrCat("--kubeconfig=", member),
        absl::StrCat("--cluster-name=", kName),
        absl::StrCat("--cluster-api-endpoint=", plane.fleet()->member(kName)->url()),
        "--cluster-region=north",
        "--leader-elect=false",
        "--metrics-bind-address=0",
        "--health-probe-bind-address=0",
        "--cluster-status-update-frequency=1s",
        "--cluster-failure-threshold=1s",
        "--cluster-success-threshold=1s"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  void Start(const std::vector<std::string>& more = {}) { agent.emplace(Command(more), log); }
  // Starts the agent and waits until the scheduler uses its cluster.
  void Join() {
    Start();
    REQUIRE(Eventually([&] {
      IssueTokens();
      return plane.AcceptsWork(kName);
    }));
  }
  int Stop() {
    const int status = agent->Stop();
    agent.reset();
    return status;
  }
  bool Eventually(const std::function<bool()>& holds) {
    const bool held = plane.Eventually([&] { return holds() || agent->HasEnded(); });
    INFO(base::ReadFile(log).value_or(""));
    CHECK_FALSE(agent->HasEnded());
    return held && holds();
  }
  // Gives the member's token Secrets their tokens, as its kube-controller-manager does.
  void IssueTokens() {
    const auto secrets = plane.client(kName).List(api::Secrets(), api::kClusterNamespace, {}, {});
    if (!secrets.ok()) return;
    for (const kube::Object& secret : secrets->items) {
      if (!secret.Get({"data", "token"}).AsString().empty()) continue;
      const std::string token = base::NewUuid();
      plane.fleet()->member(kName)->AddToken(
          token, absl::StrCat("system:serviceaccount:karmada-cluster:", secret.name()));
      const auto config = kube::ParseSelfContainedKubeconfig(*plane.fleet()->Kubeconfig(kName));
      const json::Value data = json::Value::Object(
          {{"token", absl::Base64Escape(token)}, {"ca.crt", absl::Base64Escape(config->ca_pem)}});
      plane.Patch(kName, kSecret, secret.key(), json::Write(json::Value::Object({{"data", data}})));
    }
  }

  kube::Object Cluster() { return *plane.Get("host", kCluster, {"", kName}); }
  void Propagate() {
    plane.Apply("host", In(ns, WebDeployment()));
    plane.Apply("host", In(ns, R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web, namespace: $NS}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web}]
  placement: {clusterAffinity: {clusterNames: [member1, member2]}}
)"));
  }
  int64_t ReplicasIn(const std::string& cluster) {
    const auto web = plane.Get(cluster, kDeployment, {ns, "web"});
    return web ? web->Get({"spec", "replicas"}).AsInt() : 0;
  }
  int64_t ReadyInTemplate() {
    return plane.Get("host", kDeployment, {ns, "web"})->Get({"status", "readyReplicas"}).AsInt();
  }
  // Returns what the agent has sent to a server, as "verb resource", and how often.
  std::map<std::string, int64_t> Sent(sandbox::ApiServer& server) {
    std::map<std::string, int64_t> sent;
    for (const sandbox::RequestCount& count : server.Requests()) {
      if (!absl::StartsWith(count.client, "karmada-agent")) continue;
      sent[absl::StrCat(count.verb, " ", count.resource)] += count.count;
    }
    return sent;
  }
  // Returns how many writes there were beside those of the Leases.
  int64_t Writes() {
    int64_t writes = 0;
    for (sandbox::ApiServer* server :
         {&plane.fleet()->control_plane(), plane.fleet()->member(kName)}) {
      for (const auto& [what, count] : Sent(*server)) {
        if (IsWrite(what.substr(0, what.find(' '))) && !absl::EndsWith(what, " leases")) {
          writes += count;
        }
      }
    }
    return writes;
  }
};

}  // namespace

TEST_CASE("An agent registers its cluster and serves it as a push cluster is served", "[sandbox]") {
  Pulled s;
  s.Join();
  const kube::Object cluster = s.Cluster();
  CHECK(cluster.spec()["syncMode"].AsString() == "Pull");
  CHECK(cluster.spec()["region"].AsString() == "north");
  CHECK(cluster.Get({"spec", "secretRef", "name"}).AsString() == kName);
  CHECK(cluster.Get({"spec", "impersonatorSecretRef", "name"}).AsString() ==
        "member2-impersonator");
  CHECK(cluster.spec()["id"].AsString() ==
        s.plane.Get(kName, kNamespace, {"", "kube-system"})->uid());
  const auto secret = s.plane.Get("host", kSecret, {"karmada-cluster", kName});
  REQUIRE(secret);
  CHECK_FALSE(secret->Get({"data", "token"}).AsString().empty());
  CHECK(secret->ControllerOwner().uid == cluster.uid());
  CHECK(s.Eventually([&] { return s.plane.Exists("host", kLease, {"karmada-cluster", kName}); }));
  CHECK(s.Eventually([&] { return !s.Cluster().Get({"status", "nodeSummary"}).is_null(); }));
  CHECK_FALSE(s.Cluster().Get({"status", "resourceSummary", "allocatableModelings"}).is_null());

  s.Propagate();
  CHECK(s.Eventually([&] { return s.ReplicasIn(kName) == 2; }));
  CHECK(s.Eventually([&] { return s.ReadyInTemplate() == 4; }));

  s.plane.Patch("host", kDeployment, {s.ns, "web"}, R"({"spec":{"replicas":3}})");
  CHECK(s.Eventually([&] { return s.ReplicasIn(kName) == 3; }));
  s.plane.Patch(kName, kDeployment, {s.ns, "web"}, R"({"spec":{"replicas":7}})");
  CHECK(s.Eventually([&] { return s.ReplicasIn(kName) == 3; }));
  s.plane.Delete(kName, kDeployment, {s.ns, "web"});
  CHECK(s.Eventually([&] { return s.ReplicasIn(kName) == 3; }));
  CHECK(s.Eventually([&] { return s.ReadyInTemplate() == 6; }));

  s.plane.Delete("host", kDeployment, {s.ns, "web"});
  CHECK(s.Eventually([&] { return !s.plane.Exists(kName, kDeployment, {s.ns, "web"}); }));
  CHECK(s.Eventually([&] {
    return !s.plane.Exists(
        "host", kWork, {api::ExecutionNamespace(kName), api::WorkName("Deployment", "web", s.ns)});
  }));
}

TEST_CASE("An agent needs no more rights than karmadactl register gives it", "[sandbox]") {
  Pulled s;
  s.Join();
  s.Propagate();
  CHECK(s.Eventually([&] { return s.ReadyInTemplate() == 4; }));
  s.plane.Delete("host", kDeployment, {s.ns, "web"});
  CHECK(s.Eventually([&] { return !s.plane.Exists(kName, kDeployment, {s.ns, "web"}); }));
  const std::set<std::string> rights = RightsOfAgents();
  for (const auto& [what, count] : s.Sent(s.plane.fleet()->control_plane())) {
    // Documents and probes are open to everybody.
    const std::string resource = what.substr(what.find(' ') + 1);
    if (resource.empty() || resource[0] == '/') continue;
    INFO(what);
    CHECK(rights.contains(what));
  }
}

TEST_CASE("An agent that is started again writes nothing, and finds what was done without it",
          "[sandbox]") {
  Pulled s;
  s.Join();
  s.Propagate();
  CHECK(s.Eventually([&] { return s.ReadyInTemplate() == 4; }));
  REQUIRE(s.plane.Settles([&] { return absl::StrCat(s.Writes()); }, absl::Seconds(3)));
  CHECK(s.Stop() == 0);

  const int64_t before = s.Writes();
  s.Start();
  const auto renewed = [&] {
    return s.plane.Get("host", kLease, {"karmada-cluster", kName})
        ->Get({"spec", "renewTime"})
        .ToString();
  };
  const std::string last = renewed();
  CHECK(s.Eventually([&] { return renewed() != last; }));
  CHECK(s.plane.Always([&] { return s.Writes() == before; }, absl::Seconds(3)));
  CHECK(s.Stop() == 0);

  s.plane.Patch(kName, kDeployment, {s.ns, "web"}, R"({"spec":{"replicas":7}})");
  s.plane.Patch("host", kDeployment, {s.ns, "web"}, R"({"spec":{"replicas":1}})");
  s.Start();
  CHECK(s.Eventually([&] { return s.ReplicasIn(kName) == 1; }));
}

TEST_CASE("One process is the agent of the clusters of a directory, which it follows",
          "[sandbox]") {
  Pulled s;
  const std::string clusters = absl::StrCat(s.directory.path(), "/clusters");
  const auto put = [&](const std::string& cluster, const std::string& kubeconfig) {
    const std::string folder = absl::StrCat(clusters, "/", cluster);
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/karmada-kubeconfig") << *s.plane.fleet()->Kubeconfig("karmada");
    std::ofstream(folder + "/kubeconfig") << kubeconfig;
  };
  put(kName, *s.plane.fleet()->Kubeconfig(kName));
  put("broken", "this is no kubeconfig");
  std::filesystem::create_directories(clusters + "/empty");
  const std::vector<std::string> words = {KM_AGENT,
                                          absl::StrCat("--clusters-from=", clusters),
                                          "--leader-elect=false",
                                          "--metrics-bind-address=0",
                                          "--health-probe-bind-address=0",
                                          "--cluster-status-update-frequency=1s",
                                          "--cluster-failure-threshold=1s",
                                          "--cluster-success-threshold=1s"};
  s.agent.emplace(words, s.log);
  REQUIRE(s.Eventually([&] {
    s.IssueTokens();
    return s.plane.AcceptsWork(kName);
  }));
  s.Propagate();
  CHECK(s.Eventually([&] { return s.ReplicasIn(kName) == 2; }));

  // Without its folder nobody serves the cluster; with it, somebody does again.
  std::filesystem::remove_all(absl::StrCat(clusters, "/", kName));
  CHECK(s.Eventually([&] {
    return absl::StrContains(base::ReadFile(s.log).value_or(""), "agent of a cluster has stopped");
  }));
  s.plane.Patch(kName, kDeployment, {s.ns, "web"}, R"({"spec":{"replicas":7}})");
  CHECK(s.plane.Always([&] { return s.ReplicasIn(kName) == 7; }));
  put(kName, *s.plane.fleet()->Kubeconfig(kName));
  CHECK(s.Eventually([&] { return s.ReplicasIn(kName) == 2; }));
  CHECK(s.Stop() == 0);
}

TEST_CASE("A name that another cluster has is refused", "[sandbox]") {
  Pulled s;
  auto command = s.Command({"--cluster-name=member1"});
  s.agent.emplace(command, s.log);
  REQUIRE(s.plane.Eventually([&] { return s.agent->HasEnded(); }));
  CHECK(absl::StrContains(base::ReadFile(s.log).value_or(""),
                          "or the cluster name member1 has been registered"));
  CHECK(s.plane.Get("host", kCluster, {"", "member1"})->spec()["syncMode"].AsString() == "Push");
}

TEST_CASE("An identity that another cluster has is refused, and that cluster is named",
          "[sandbox]") {
  Pulled s;
  s.Join();
  const std::string log = absl::StrCat(s.directory.path(), "/other.log");
  const ChildProcess other(s.Command({"--cluster-name=second"}), log);
  REQUIRE(s.Eventually([&] { return other.HasEnded(); }));
  const std::string words = base::ReadFile(log).value_or("");
  INFO(words);
  CHECK(absl::StrContains(words, "or the cluster name second has been registered"));
  CHECK(absl::StrContains(words, kName));
  CHECK_FALSE(s.plane.Exists("host", kCluster, {"", "second"}));
  s.Propagate();
  CHECK(s.Eventually([&] { return s.ReadyInTemplate() == 4; }));
}

TEST_CASE("Of two agents of one cluster one works, and the other takes its place", "[sandbox]") {
  Pulled s;
  const std::vector<std::string> elects = {
      "--leader-elect=true", "--leader-elect-lease-duration=4s", "--leader-elect-renew-deadline=3s",
      "--leader-elect-retry-period=1s"};
  s.Start(elects);
  REQUIRE(s.Eventually([&] {
    s.IssueTokens();
    return s.plane.AcceptsWork(kName);
  }));
  const std::string log = absl::StrCat(s.directory.path(), "/other.log");
  const ChildProcess other(s.Command(elects), log);
  CHECK(s.Eventually([&] {
    return absl::StrContains(base::ReadFile(log).value_or(""), "another process leads");
  }));
  s.agent.reset();  // Killed.
  s.Propagate();
  CHECK(s.plane.Eventually([&] { return s.ReadyInTemplate() == 4; }));
  CHECK_FALSE(other.HasEnded());
}

TEST_CASE("Two agents of one cluster that both work do not undo each other's work", "[sandbox]") {
  Pulled s;
  s.Join();
  s.Propagate();
  const ChildProcess other(s.Command(), absl::StrCat(s.directory.path(), "/other.log"));
  CHECK(s.Eventually([&] { return s.ReadyInTemplate() == 4; }));
  s.plane.Patch("host", kDeployment, {s.ns, "web"}, R"({"spec":{"replicas":3}})");
  CHECK(s.Eventually([&] { return s.ReadyInTemplate() == 6; }));
  CHECK(s.plane.Settles([&] { return absl::StrCat(s.Writes()); }, absl::Seconds(3)));
  CHECK_FALSE(other.HasEnded());
}

}  // namespace tests
