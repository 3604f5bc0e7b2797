// A control plane, a management cluster of Cluster API and the clusters that it has provisioned,
// all in memory.
#ifndef TESTS_CONTROLLERS_CLUSTER_API_FIXTURE_H_
#define TESTS_CONTROLLERS_CLUSTER_API_FIXTURE_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "controllers/cluster_api/cluster_api_reconciler.h"
#include "tests/support/loops_fixture.h"

namespace tests {

inline const kube::Resource kServiceAccounts{{"", "v1", "ServiceAccount"}, "serviceaccounts", true};

struct ClusterApiFixture : LoopsFixture {
  std::shared_ptr<FakeApiServer> management = std::make_shared<FakeApiServer>();
  std::map<std::string, std::shared_ptr<FakeApiServer>> workloads;  // By their URLs.
  std::optional<controllers::ClusterApiReconciler> reconciler;

  ClusterApiFixture() {
    Sync({api::Clusters(), api::Secrets()});
    Make();
    Identify(*management, "management");
    ServeVersions({"v1beta1"});
  }
  ~ClusterApiFixture() override { Forget(); }

  static kube::Resource Sources(const std::string& version = "v1beta1") {
    return {{"cluster.x-k8s.io", version, "Cluster"}, "clusters", true};
  }
  // The first one is the preferred version.
  void ServeVersions(const std::vector<std::string>& versions) {
    std::vector<kube::Resource> resources;
    for (const std::string& version : versions) resources.push_back(Sources(version));
    management->Serve(resources);
  }
  static void Identify(FakeApiServer& cluster, const std::string& id) {
    kube::Object system = kube::Object::Make(api::Namespaces().gvk, {"", "kube-system"});
    system.Set({"metadata", "uid"}, id);
    cluster.Put(api::Namespaces(), system);
  }

  // A cluster whose token Secrets are filled by the time that a join reads them.
  FakeApiServer& AddWorkload(const std::string& url, const std::string& id,
                             const std::string& name = "w1") {
    auto& cluster = workloads[url] = std::make_shared<FakeApiServer>();
    Identify(*cluster, id);
    for (const std::string& account : {std::string("karmada-impersonator"), "karmada-" + name}) {
      kube::Object secret = kube::Object::Make(api::Secrets().gvk, {"karmada-cluster", account});
      secret.Set({"data", "token"}, absl::Base64Escape(absl::StrCat("token of ", account)));
      secret.Set({"data", "ca.crt"}, absl::Base64Escape("authority of " + id));
      cluster->Put(api::Secrets(), secret);
    }
    return *cluster;
  }

  static std::string Kubeconfig(const std::string& url, const std::string& more_of_cluster = "",
                                const std::string& user = "{token: t}") {
    return absl::Substitute(R"(
apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: k, user: u}}]
clusters: [{name: k, cluster: {server: "$0"$1}}]
users: [{name: u, user: $2}]
)",
                            url, more_of_cluster, user);
  }
  void PutKubeconfig(const std::string& text, const kube::ObjectKey& of = {"fleet", "w1"}) {
    kube::Object secret = kube::Object::Make(api::Secrets().gvk, {of.ns, of.name + "-kubeconfig"});
    secret.Set({"data", "value"}, absl::Base64Escape(text));
    management->Put(api::Secrets(), secret);
  }
  kube::Object PutSource(const std::string& phase, const kube::ObjectKey& key = {"fleet", "w1"},
                         const std::string& uid = "source-1") {
    kube::Object source = kube::Object::Make(Sources().gvk, key);
    source.Set({"metadata", "uid"}, uid);
    source.Set({"metadata", "creationTimestamp"}, "2026-01-01T00:00:00Z");
    source.Set({"status", "phase"}, phase);
    source = management->Put(Sources(), source);
    if (watching.has_value()) {
      REQUIRE(Eventually([&] {
        const kube::ObjectPtr held = watching->Find(key);
        return held != nullptr && held->resource_version() == source.resource_version();
      }));
    }
    return source;
  }
  void EraseSource(const kube::ObjectKey& key = {"fleet", "w1"}) {
    management->Erase(Sources(), key);
    if (watching.has_value()) REQUIRE(Eventually([&] { return watching->Find(key) == nullptr; }));
  }

  // Begins as after a start, without any memory.
  void Restart(bool await = true) {
    Forget();
    queue.emplace(kube::WorkQueue::Options{.name = "q"}, clock);
    watching.emplace(management, "management", clock);
    watching->Feed(*queue);
    stop_watching = base::StopSource();
    runnable = watching->NewRunnable();
    watcher = std::thread([this] {
      base::IgnoreError(runnable->Run(stop_watching.get_token()), "it returns after a stop only");
    });
    reconciler.emplace(*manager, *watching, [this](const kube::ConnectionConfig& config) {
      ++joins;
      return Connect(config);
    });
    if (await) REQUIRE(Eventually([&] { return watching->HasSynced(); }));
  }
  void Forget() {
    stop_watching.request_stop();
    if (watcher.joinable()) watcher.join();
    reconciler.reset();
    runnable.reset();
    watching.reset();
    queue.reset();
  }
  absl::StatusOr<std::shared_ptr<kube::Transport>> Connect(const kube::ConnectionConfig& config) {
    const auto found = workloads.find(config.server);
    if (found == workloads.end()) return absl::UnavailableError("connection refused");
    return std::shared_ptr<kube::Transport>(found->second);
  }

  absl::StatusOr<kube::Action> Reconcile(const std::string& name = "w1") {
    return reconciler->Reconcile({.key = {"", name}}, {});
  }
  // Joins the cluster w1, which is at "https://w1" and has the id "id-1".
  void JoinOne() {
    AddWorkload("https://w1", "id-1");
    PutKubeconfig(Kubeconfig("https://w1"));
    PutSource("Provisioned");
    Restart();
    REQUIRE(Reconcile().ok());
    REQUIRE_FALSE(Cluster().empty());
  }
  kube::Object Cluster(const std::string& name = "w1") const {
    return server->Find(api::Clusters(), {"", name});
  }
  kube::Object Secret(const std::string& name) const {
    return server->Find(api::Secrets(), {"karmada-cluster", name});
  }
  size_t Writes() const {
    return server->Requests("POST").size() + server->Requests("PATCH").size() +
           server->Requests("DELETE").size();
  }
  std::string LastEvent() const {
    const std::vector<std::string> all = recorded->All();
    return all.empty() ? "" : all.back();
  }

  std::optional<kube::WorkQueue> queue;
  std::optional<controllers::ManagementCluster> watching;
  std::unique_ptr<kube::Runnable> runnable;
  base::StopSource stop_watching;
  std::thread watcher;
  int joins = 0;  // How often a member was contacted.
};

}  // namespace tests

#endif  // TESTS_CONTROLLERS_CLUSTER_API_FIXTURE_H_
