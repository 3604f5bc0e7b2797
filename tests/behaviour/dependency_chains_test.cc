// With the gate TransitiveDependencies the shipped rules of several kinds follow one another: what
// a template needs brings along what it needs itself.
#include <string>

#include <catch2/catch.hpp>

#include "absl/strings/substitute.h"
#include "tests/behaviour/manifests.h"
#include "tests/support/control_plane.h"

namespace tests {
namespace {

// $0 is the group, $1 the version, $2 the kind, $3 its plural, $4 its singular name.
constexpr char kDefinition[] = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: $3.$0}
spec:
  group: $0
  names: {kind: $2, listKind: $2List, plural: $3, singular: $4}
  scope: Namespaced
  versions:
  - name: $1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
)";

constexpr char kRelease[] = R"(
apiVersion: v1
kind: Secret
metadata: {name: login, namespace: $NS}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: charts, namespace: $NS}
spec: {interval: 1h, url: "https://charts.example.com", secretRef: {name: login}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: shop, namespace: $NS}
spec: {interval: 10m, chart: {spec: {chart: shop, sourceRef: {kind: HelmRepository, name: charts}}}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: shop, namespace: $NS}
spec:
  propagateDeps: true
  resourceSelectors: [{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, name: shop}]
  placement: {clusterAffinity: {clusterNames: [member1]}}
)";

const kube::Gvk kHelmRelease{"helm.toolkit.fluxcd.io", "v2", "HelmRelease"};
const kube::Gvk kHelmRepository{"source.toolkit.fluxcd.io", "v1", "HelmRepository"};

}  // namespace

TEST_CASE(
    "With the gate TransitiveDependencies a HelmRelease brings the Secret of its repository") {
  ControlPlane plane({.daemon_flags = {"--feature-gates=TransitiveDependencies=true"}});
  const std::string ns = plane.UniqueNamespace("chain");
  plane.Apply("host", In(ns, kNamespaceYaml));
  plane.ApplyEverywhere(absl::Substitute(kDefinition, kHelmRelease.group, kHelmRelease.version,
                                         kHelmRelease.kind, "helmreleases", "helmrelease"));
  plane.ApplyEverywhere(absl::Substitute(kDefinition, kHelmRepository.group,
                                         kHelmRepository.version, kHelmRepository.kind,
                                         "helmrepositories", "helmrepository"));
  plane.Apply("host", In(ns, kRelease));
  const auto arrives = [&](const kube::Gvk& kind, const std::string& name) {
    return plane.Eventually([&] { return plane.Exists("member1", kind, {ns, name}); });
  };
  CHECK(arrives(kHelmRelease, "shop"));
  CHECK(arrives(kHelmRepository, "charts"));
  CHECK(arrives(kSecret, "login"));

  // Upstream's controller manager has no rules for these kinds: left behind, they would be the
  // reason why a plane changes when another controller manager takes over.
  plane.Delete("host", kHelmRelease, {ns, "shop"});
  CHECK(plane.Eventually([&] { return !plane.Exists("member1", kHelmRelease, {ns, "shop"}); }));
  CHECK(plane.Eventually([&] {
    return !plane.Exists("member1", kHelmRepository, {ns, "charts"});
  }));
  plane.Delete("host", kHelmRepository, {ns, "charts"});
}

}  // namespace tests
