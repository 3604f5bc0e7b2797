// A backup of the control plane that is restored in any order, with or without finalizers, while
// the controller manager runs or is started in the middle: nothing in a member is deleted, not even
// to be made again.
#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"
#include "api/names.h"
#include "api/resources.h"
#include "kube/client/errors.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

const kube::Resource kDeployments{kDeployment, "deployments", true};
const kube::Resource kConfigMaps{kConfigMap, "configmaps", true};
const kube::Resource kSecrets{kSecret, "secrets", true};
const kube::Resource kClaims{{"", "v1", "PersistentVolumeClaim"}, "persistentvolumeclaims", true};
const kube::Resource kQuotas{{"", "v1", "ResourceQuota"}, "resourcequotas", true};
const kube::Resource kPolicies{kPolicy, "propagationpolicies", true};
const kube::Resource kCronHpas{
    {"autoscaling.karmada.io", "v1alpha1", "CronFederatedHPA"}, "cronfederatedhpas", true};

// Two Deployments that need the same claim and settings, one of which alone needs a Secret.
constexpr char kScene[] = R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: $NS}
data: {k: v}
---
apiVersion: v1
kind: Secret
metadata: {name: access, namespace: $NS}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: $NS}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: $NS}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: networking.karmada.io/v1alpha1
kind: MultiClusterService
metadata: {name: web, namespace: $NS}
spec:
  types: [CrossCluster]
  providerClusters: [{name: member1}]
  consumerClusters: [{name: member2}]
---
apiVersion: policy.karmada.io/v1alpha1
kind: FederatedResourceQuota
metadata: {name: team, namespace: $NS}
spec:
  overall: {cpu: "10"}
  staticAssignments:
  - {clusterName: member1, hard: {cpu: "2"}}
  - {clusterName: member2, hard: {cpu: "3"}}
---
apiVersion: autoscaling.karmada.io/v1alpha1
kind: CronFederatedHPA
metadata: {name: web, namespace: $NS}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  rules: [{name: yearly, schedule: "0 0 29 2 *", targetReplicas: 9}]
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web, namespace: $NS}
spec:
  propagateDeps: true
  preserveResourcesOnDeletion: false
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  placement: {clusterAffinity: {clusterNames: [member1, member2]}}
)";

constexpr char kSliceOfWeb[] = R"(
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-abc, namespace: $NS, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
endpoints: [{addresses: [10.1.0.1]}]
)";

constexpr char kWebPod[] = R"({
      containers: [{name: main, image: "nginx:1.25"}],
      volumes: [{name: settings, configMap: {name: settings}},
                {name: data, persistentVolumeClaim: {claimName: data}}]})";
constexpr char kShopPod[] = R"({
      containers: [{name: main, image: "nginx:1.25", envFrom: [{secretRef: {name: access}}]}],
      volumes: [{name: settings, configMap: {name: settings}},
                {name: data, persistentVolumeClaim: {claimName: data}}]})";

struct Saved {
  kube::Resource resource;
  kube::Object object;
};

// What Velero restores has no finalizers; what `kubectl get -o yaml` writes has.
enum class Tool { kVelero, kKubectl };

// Returns what the tool restores of the object: no uid, no owners, no status.
kube::Object WithoutIdentity(const kube::Object& object, Tool tool) {
  kube::Object kept = object;
  kept.Erase({"status"});
  if (tool == Tool::kVelero) kept.Erase({"metadata", "finalizers"});
  for (const char* field : {"uid", "resourceVersion", "generation", "creationTimestamp",
                            "ownerReferences", "managedFields"}) {
    kept.Erase({"metadata", field});
  }
  return kept;
}

struct Scene {
  ControlPlane plane;
  const std::string ns = plane.UniqueNamespace("restore");

  Scene() : plane({.daemon_flags = {"--feature-gates=MultiClusterService=true"}}) {
    plane.ApplyEverywhere(In(ns, kNamespaceYaml));
    plane.Apply("host", In(ns, kScene));
    plane.Apply("host", In(ns, Deployment("web", 2, kWebPod)));
    plane.Apply("host", In(ns, Deployment("shop", 2, kShopPod)));
    plane.Apply("member1", In(ns, kSliceOfWeb));
  }

  std::vector<kube::Object> All(const std::string& cluster, const kube::Resource& resource,
                                const std::string& in) {
    auto page = plane.client(cluster).ListAll(resource, in, {}, {});
    INFO(page.status());
    REQUIRE(page.ok());
    return page->items;
  }
  // Returns the uids of what the scene has put into members.
  std::map<std::string, std::string> InMembers() {
    std::map<std::string, std::string> uids;
    for (const char* member : {"member1", "member2"}) {
      for (const kube::Resource& resource : {kDeployments, kConfigMaps, kSecrets, kClaims, kQuotas,
                                             api::Services(), api::EndpointSlices()}) {
        for (const kube::Object& object : All(member, resource, ns)) {
          uids[absl::StrCat(member, " ", object.Describe())] = std::string(object.uid());
        }
      }
    }
    return uids;
  }
  bool IsThere() {
    for (const char* member : {"member1", "member2"}) {
      const auto has = [&](const kube::Resource& resource, const char* name) {
        return plane.Exists(member, resource.gvk, {ns, name});
      };
      if (!has(kDeployments, "web") || !has(kDeployments, "shop") || !has(kClaims, "data") ||
          !has(kConfigMaps, "settings") || !has(kSecrets, "access") || !has(kQuotas, "team") ||
          !has(api::Services(), "web")) {
        return false;
      }
    }
    return plane.Exists("member2", api::EndpointSlices().gvk, {ns, "member1-web-abc"});
  }

  // Returns everything of the scene that is in the control plane.
  std::vector<Saved> Back() {
    std::vector<Saved> saved;
    for (const kube::Resource& resource :
         {kDeployments, kConfigMaps, kSecrets, kClaims, kPolicies, kCronHpas, api::Services(),
          api::MultiClusterServices(), api::FederatedResourceQuotas(), api::ResourceBindings()}) {
      for (kube::Object& object : All("host", resource, ns)) saved.push_back({resource, object});
    }
    for (const char* member : {"member1", "member2"}) {
      for (kube::Object& work : All("host", api::Works(), api::ExecutionNamespace(member))) {
        const kube::Object manifest(work.Get({"spec", "workload", "manifests"}).At(0));
        if (manifest.ns() == ns) saved.push_back({api::Works(), work});
      }
    }
    return saved;
  }
  // Takes everything out of the control plane without telling anybody.
  void Lose(const std::vector<Saved>& saved) {
    kube::Client& host = plane.client("host");
    const json::Value bare = json::Parse(R"({"metadata": {"finalizers": null}})").value();
    for (const Saved& each : saved) {
      const absl::Status patched =
          host.Patch(each.resource, each.object.key(), kube::PatchType::kMerge, bare, {}, {})
              .status();
      INFO(each.object.Describe() << " " << patched);
      REQUIRE((patched.ok() || kube::IsGone(patched)));
    }
    for (const Saved& each : saved) {
      const absl::Status deleted = host.Delete(each.resource, each.object.key(), {}, {}).status();
      INFO(each.object.Describe() << " " << deleted);
      REQUIRE((deleted.ok() || kube::IsGone(deleted)));
    }
    CHECK(plane.Eventually([&] { return Back().empty(); }));
  }
  void Restore(const Saved& saved, Tool tool) {
    const kube::Object object = WithoutIdentity(saved.object, tool);
    absl::Status applied;
    CHECK(plane.Eventually([&] {
      applied = plane.TryApply("host", object);
      return applied.ok();
    }));
    INFO(object.Describe() << " " << applied);
    CHECK(applied.ok());
  }
};

}  // namespace

TEST_CASE("A backup that is restored in any order deletes nothing in members", "[sandbox]") {
  Scene scene;
  ControlPlane& plane = scene.plane;
  REQUIRE(plane.Eventually([&] { return scene.IsThere(); }));
  const std::map<std::string, std::string> before = scene.InMembers();
  // The objects that are not there, or not the same ones, any more.
  const auto lost = [&] {
    const std::map<std::string, std::string> now = scene.InMembers();
    std::vector<std::string> names;
    for (const auto& [name, uid] : before) {
      const auto found = now.find(name);
      if (found == now.end() || found->second != uid) names.push_back(name);
    }
    return names;
  };
  for (const unsigned seed : {1u, 2u, 3u, 4u}) {
    INFO("seed " << seed);
    const Tool tool = seed % 2 == 0 ? Tool::kVelero : Tool::kKubectl;
    std::mt19937 random(seed);
    std::vector<Saved> saved = scene.Back();
    plane.StopDaemon();
    scene.Lose(saved);
    REQUIRE(lost() == std::vector<std::string>());
    std::shuffle(saved.begin(), saved.end(), random);
    const size_t start = random() % (saved.size() / 2);
    for (size_t i = 0; i < saved.size(); ++i) {
      if (i == start) plane.StartDaemon();
      // What is there by then has been looked at.
      if (i > start && i % 4 == 0) plane.AwaitDaemon(scene.ns);
      scene.Restore(saved[i], tool);
    }
    plane.AwaitDaemon(scene.ns);
    CHECK(plane.Settles([&] { return absl::StrCat(scene.Back().size()); }));
    CHECK(lost() == std::vector<std::string>());
  }

  // What was restored is managed as before.
  for (const char* name : {"web", "shop"}) plane.Delete("host", kDeployment, {scene.ns, name});
  plane.Delete("host", api::FederatedResourceQuotas().gvk, {scene.ns, "team"});
  plane.Delete("host", api::MultiClusterServices().gvk, {scene.ns, "web"});
  for (const char* member : {"member1", "member2"}) {
    const auto has = [&](const kube::Resource& resource, const char* name) {
      return plane.Exists(member, resource.gvk, {scene.ns, name});
    };
    CHECK(plane.Eventually([&] {
      return !has(kDeployments, "web") && !has(kClaims, "data") && !has(kSecrets, "access") &&
             !has(kQuotas, "team") && !has(api::EndpointSlices(), "member1-web-abc");
    }));
  }
}

}  // namespace tests
