// Clusters of Cluster API join and leave by themselves. The management cluster and the clusters
// that it has provisioned are a second sandbox.
#include <memory>
#include <string>

#include <catch2/catch.hpp>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "api/resources.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/yaml.h"
#include "kube/http/http_transport.h"
#include "kube/kubeconfig/self_contained_kubeconfig.h"
#include "sandbox/fleet.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"
#include "tests/support/temp_directory.h"

namespace tests {
namespace {

const kube::Resource kSources{{"cluster.x-k8s.io", "v1beta1", "Cluster"}, "clusters", true};

// The parts of Cluster API's definition that matter here.
constexpr char kDefinition[] = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: clusters.cluster.x-k8s.io}
spec:
  group: cluster.x-k8s.io
  names: {kind: Cluster, listKind: ClusterList, plural: clusters, singular: cluster}
  scope: Namespaced
  versions:
  - name: v1beta1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
)";

// A management cluster with one provisioned cluster, to which no Karmada belongs.
class CloudOfClusters {
 public:
  CloudOfClusters() {
    sandbox::FleetOptions options;
    options.members = 1;
    options.with_scheduler = options.with_crds = options.join_members = false;
    auto started = sandbox::Fleet::Start(options);
    REQUIRE(started.ok());
    fleet_ = *std::move(started);
    management_ = ClientOf("karmada");
    workload_ = ClientOf("member1");
    kubeconfig_ = directory_.Write("management.kubeconfig", *fleet_->Kubeconfig("karmada"));
  }

  const std::string& kubeconfig() const { return kubeconfig_; }
  kube::Client& management() { return *management_; }
  kube::Client& workload() { return *workload_; }
  void Install() {
    Create({{"apiextensions.k8s.io", "v1", "CustomResourceDefinition"},
            "customresourcedefinitions",
            false},
           kDefinition);
  }
  void Provision(ControlPlane& plane, const std::string& name) {
    const kube::Object secret(json::Value::Object(
        {{"apiVersion", "v1"},
         {"kind", "Secret"},
         {"metadata",
          json::Value::Object({{"namespace", "default"}, {"name", name + "-kubeconfig"}})},
         {"data",
          json::Value::Object({{"value", absl::Base64Escape(*fleet_->Kubeconfig("member1"))}})}}));
    REQUIRE(management_->Create(api::Secrets(), secret, {}, {}).ok());
    kube::Object source = kube::Object::Make(kSources.gvk, {"default", name});
    // The kind is served a moment after its definition was created.
    REQUIRE(plane.Eventually([&] { return management_->Create(kSources, source, {}, {}).ok(); }));
    REQUIRE(management_
                ->Patch(kSources, source.key(), kube::PatchType::kMerge,
                        *json::Parse(R"({"status": {"phase": "Provisioned"}})"),
                        {.subresource = "status"}, {})
                .ok());
  }
  void Remove(const std::string& name) {
    REQUIRE(management_->Delete(kSources, {"default", name}, {}, {}).ok());
  }
  // Gives the token Secrets of the provisioned cluster their tokens, as its
  // kube-controller-manager does.
  void IssueTokens() {
    const auto secrets = workload_->List(api::Secrets(), "karmada-cluster", {}, {});
    if (!secrets.ok()) return;
    for (const kube::Object& secret : secrets->items) {
      if (!secret.Get({"data", "token"}).AsString().empty()) continue;
      const std::string token = base::NewUuid();
      fleet_->member("member1")->AddToken(
          token, absl::StrCat("system:serviceaccount:karmada-cluster:", secret.name()));
      const auto config = kube::ParseSelfContainedKubeconfig(*fleet_->Kubeconfig("member1"));
      const json::Value patch = json::Value::Object(
          {{"data", json::Value::Object({{"token", absl::Base64Escape(token)},
                                         {"ca.crt", absl::Base64Escape(config->ca_pem)}})}});
      REQUIRE(workload_->Patch(api::Secrets(), secret.key(), kube::PatchType::kMerge, patch, {}, {})
                  .ok());
    }
  }

 private:
  std::unique_ptr<kube::Client> ClientOf(const std::string& name) {
    const auto config = kube::ParseSelfContainedKubeconfig(*fleet_->Kubeconfig(name));
    REQUIRE(config.ok());
    auto transport = kube::NewHttpTransport(*config);
    REQUIRE(transport.ok());
    return std::make_unique<kube::Client>(*std::move(transport),
                                          kube::ClientOptions{.name = name, .host = name},
                                          base::RealClock(), nullptr);
  }
  void Create(const kube::Resource& resource, const std::string& yaml) {
    REQUIRE(management_->Create(resource, kube::Object(*yaml::Parse(yaml)), {}, {}).ok());
  }

  TempDirectory directory_;
  std::string kubeconfig_;
  std::unique_ptr<sandbox::Fleet> fleet_;
  std::unique_ptr<kube::Client> management_, workload_;
};

}  // namespace

TEST_CASE("A cluster of Cluster API joins, gets what is propagated, and leaves", "[sandbox]") {
  CloudOfClusters cloud;
  ControlPlane plane(
      {.members = 1, .daemon_flags = {"--cluster-api-kubeconfig=" + cloud.kubeconfig()}});
  // The daemon works although Cluster API is not installed yet.
  cloud.Install();
  cloud.Provision(plane, "cloudy");
  const auto joined = [&] {
    cloud.IssueTokens();
    return plane.AcceptsWork("cloudy");
  };
  const auto reported = [&] {
    return absl::StrContains(plane.EventsOn(kCluster, "cloudy"), "JoinClusterSucceed");
  };
  // A killed process loses the events that it has not written yet.
  REQUIRE(plane.Eventually([&] {
    cloud.IssueTokens();
    return plane.Exists("host", kCluster, {"", "cloudy"}) && reported();
  }));
  plane.KillDaemon();  // Whatever it has done, another one completes it.
  plane.StartDaemon();
  REQUIRE(plane.Eventually(joined));

  const std::string ns = plane.UniqueNamespace("cloud");
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.Apply("host", In(ns, WebDeployment()));
  plane.Apply("host", In(ns, R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: p, namespace: $NS}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web}]
  placement: {clusterAffinity: {clusterNames: [cloudy]}}
)"));
  const kube::Resource deployments{kDeployment, "deployments", true};
  const auto has_web = [&] { return cloud.workload().Get(deployments, {ns, "web"}, {}).ok(); };
  REQUIRE(plane.Eventually(has_web));

  // A cluster that was joined in another way stays, whatever Cluster API has of that name.
  cloud.Provision(plane, "member1");
  REQUIRE(plane.Eventually([&] {
    return absl::StrContains(plane.EventsOn(kCluster, "member1"), "joined in another way");
  }));
  cloud.Remove("member1");

  plane.StopDaemon();
  cloud.Remove("cloudy");
  plane.StartDaemon();
  REQUIRE(plane.Eventually([&] { return !plane.Exists("host", kCluster, {"", "cloudy"}); }));
  CHECK_FALSE(has_web());
  CHECK(plane.Eventually([&] {
    return !plane.Exists("host", kSecret, {"karmada-cluster", "cloudy"});
  }));
  CHECK(plane.Exists("host", kCluster, {"", "member1"}));
}

TEST_CASE("A management cluster that cannot be reached holds up nothing", "[sandbox]") {
  const TempDirectory directory;
  const std::string path = directory.Write("management.kubeconfig", R"(
current-context: c
contexts: [{name: c, context: {cluster: k, user: u}}]
clusters: [{name: k, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {token: t}}]
)");
  ControlPlane plane({.members = 1, .daemon_flags = {"--cluster-api-kubeconfig=" + path}});
  const std::string ns = plane.UniqueNamespace("alone");
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.AwaitDaemon(ns);
  // Who looks for the reason finds it in the log.
  CHECK(plane.Eventually(
      [&] { return absl::StrContains(plane.DaemonLog(), "https://127.0.0.1:1: cannot"); }));
}

}  // namespace tests
