#include "tests/behaviour/manifests.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/substitute.h"
#include "tests/support/control_plane.h"

namespace tests {

std::string In(const std::string& ns, const std::string& yaml) {
  return absl::StrReplaceAll(yaml, {{"$NS", ns}});
}

std::string Deployment(const std::string& name, int replicas, const std::string& pod) {
  return absl::Substitute(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: $0, namespace: $$NS, labels: {app: $0}}
spec:
  replicas: $1
  selector: {matchLabels: {app: $0}}
  template: {metadata: {labels: {app: $0}}, spec: $2}
)",
                          name, replicas, pod);
}

std::string WebDeployment() {
  return Deployment("web", 2, R"({containers: [{name: main, image: "nginx:1.25"}]})");
}

std::string Settings(const std::string& value) {
  return absl::Substitute(R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: $$NS}
data: {k: $0}
)",
                          value);
}

std::string SettingIn(ControlPlane& plane, const std::string& cluster, const std::string& ns) {
  const auto settings = plane.Get(cluster, kConfigMap, {ns, "settings"});
  return settings ? settings->Get({"data", "k"}).ToString() : "";
}

std::string Definition(const std::string& kind, const std::string& plural, StatusPlace status) {
  std::string definition = absl::Substitute(R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: $1.$$NS.example.io}
spec:
  group: $$NS.example.io
  names: {kind: $0, listKind: $0List, plural: $1, singular: $2}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, x-kubernetes-preserve-unknown-fields: true}
)",
                                            kind, plural, absl::AsciiStrToLower(kind));
  if (status == StatusPlace::kNone) return definition;
  definition += "          status: {type: object, x-kubernetes-preserve-unknown-fields: true}\n";
  definition += status == StatusPlace::kSubresource ? "    subresources: {status: {}}\n"
                                                    : "    subresources: {}\n";
  return definition;
}

kube::Gvk DefinedKind(const std::string& ns, const std::string& kind) {
  return {absl::StrCat(ns, ".example.io"), "v1", kind};
}

std::string Customization(const std::string& kind, const std::string& scripts) {
  return absl::StrCat(R"(
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: $NS}
spec:
  target: {apiVersion: $NS.example.io/v1, kind: )",
                      kind, "}\n  customizations:\n", scripts);
}

std::string DividedPolicy(const std::string& selector, int member1, int member2) {
  return absl::Substitute(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: divided, namespace: $$NS}
spec:
  resourceSelectors: [$0]
  placement:
    clusterAffinity: {clusterNames: [member1, member2]}
    replicaScheduling:
      replicaSchedulingType: Divided
      replicaDivisionPreference: Weighted
      weightPreference:
        staticWeightList:
        - {targetCluster: {clusterNames: [member1]}, weight: $1}
        - {targetCluster: {clusterNames: [member2]}, weight: $2}
)",
                          selector, member1, member2);
}

}  // namespace tests
