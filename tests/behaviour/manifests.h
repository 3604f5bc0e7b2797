// Manifests and kinds that the behaviour tests share.
#ifndef TESTS_BEHAVIOUR_MANIFESTS_H_
#define TESTS_BEHAVIOUR_MANIFESTS_H_

#include <string>

#include "absl/strings/str_replace.h"
#include "absl/strings/substitute.h"
#include "kube/meta/names.h"

namespace tests {

inline const kube::Gvk kDeployment{"apps", "v1", "Deployment"};
inline const kube::Gvk kJob{"batch", "v1", "Job"};
inline const kube::Gvk kConfigMap{"", "v1", "ConfigMap"};
inline const kube::Gvk kNamespace{"", "v1", "Namespace"};
inline const kube::Gvk kClusterRole{"rbac.authorization.k8s.io", "v1", "ClusterRole"};
inline const kube::Gvk kCluster{"cluster.karmada.io", "v1alpha1", "Cluster"};
inline const kube::Gvk kWork{"work.karmada.io", "v1alpha1", "Work"};
inline const kube::Gvk kBinding{"work.karmada.io", "v1alpha2", "ResourceBinding"};
inline const kube::Gvk kClusterBinding{"work.karmada.io", "v1alpha2", "ClusterResourceBinding"};
inline const kube::Gvk kPolicy{"policy.karmada.io", "v1alpha1", "PropagationPolicy"};
inline const kube::Gvk kClusterPolicy{"policy.karmada.io", "v1alpha1", "ClusterPropagationPolicy"};

// $NS stands for the namespace.
inline std::string In(const std::string& ns, const std::string& yaml) {
  return absl::StrReplaceAll(yaml, {{"$NS", ns}});
}

inline constexpr char kNamespaceYaml[] = R"(
apiVersion: v1
kind: Namespace
metadata: {name: $NS}
)";

inline constexpr char kWebYaml[] = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: $NS, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: main, image: "nginx:1.25"}
)";

// What selects that Deployment.
inline constexpr char kWebSelector[] = "{apiVersion: apps/v1, kind: Deployment, name: web}";

// A policy "divided" for what the selector, in YAML's flow style, selects: its replicas are divided
// between the two members by these weights.
inline std::string DividedPolicy(const std::string& selector, int member1, int member2) {
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

#endif  // TESTS_BEHAVIOUR_MANIFESTS_H_
