// Manifests, kinds and settings that the behaviour tests share. Manifests are YAML in which $NS
// stands for the namespace of the test; cluster-scoped objects have it as their name.
//
//   plane.Apply("host", In(ns, Definition("Robot", "robots")));
#ifndef TESTS_BEHAVIOUR_MANIFESTS_H_
#define TESTS_BEHAVIOUR_MANIFESTS_H_

#include <string>

#include "kube/meta/names.h"

namespace tests {

class ControlPlane;

inline const kube::Gvk kDeployment{"apps", "v1", "Deployment"};
inline const kube::Gvk kJob{"batch", "v1", "Job"};
inline const kube::Gvk kConfigMap{"", "v1", "ConfigMap"};
inline const kube::Gvk kSecret{"", "v1", "Secret"};
inline const kube::Gvk kNamespace{"", "v1", "Namespace"};
inline const kube::Gvk kClusterRole{"rbac.authorization.k8s.io", "v1", "ClusterRole"};
inline const kube::Gvk kCluster{"cluster.karmada.io", "v1alpha1", "Cluster"};
inline const kube::Gvk kWork{"work.karmada.io", "v1alpha1", "Work"};
inline const kube::Gvk kBinding{"work.karmada.io", "v1alpha2", "ResourceBinding"};
inline const kube::Gvk kClusterBinding{"work.karmada.io", "v1alpha2", "ClusterResourceBinding"};
inline const kube::Gvk kPolicy{"policy.karmada.io", "v1alpha1", "PropagationPolicy"};
inline const kube::Gvk kClusterPolicy{"policy.karmada.io", "v1alpha1", "ClusterPropagationPolicy"};
inline const kube::Gvk kCustomization{"config.karmada.io", "v1alpha1",
                                      "ResourceInterpreterCustomization"};

// Returns the manifest with this namespace in place of $NS.
std::string In(const std::string& ns, const std::string& yaml);

inline constexpr char kNamespaceYaml[] = R"(
apiVersion: v1
kind: Namespace
metadata: {name: $NS}
)";

// Returns a Deployment of that name with a label app of the same value. `pod` is the spec of its
// pods in YAML's flow style.
std::string Deployment(const std::string& name, int replicas, const std::string& pod);

// Returns the Deployment "web" with two replicas; kWebSelector selects it in a policy.
std::string WebDeployment();
inline constexpr char kWebSelector[] = "{apiVersion: apps/v1, kind: Deployment, name: web}";

// Returns a ConfigMap "settings" whose data.k is `value`; kSettingsPolicy propagates it to both
// members.
std::string Settings(const std::string& value);
inline constexpr char kSettingsPolicy[] = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: settings, namespace: $NS}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, name: settings}]
  placement: {clusterAffinity: {clusterNames: [member1, member2]}}
)";

// Returns the value of these settings in a cluster; "" when it does not have them.
std::string SettingIn(ControlPlane& plane, const std::string& cluster, const std::string& ns);

// Where objects of a defined kind have their status: nowhere, in the object like any other field,
// or in a subresource, so that an edit of the object does not change it.
enum class StatusPlace { kNone, kOnObject, kSubresource };

// Returns a definition of a namespaced kind, version v1 of the group $NS.example.io, whose spec and
// status may have any fields. Each test has a group of its own, so definitions of different tests
// do not interfere.
std::string Definition(const std::string& kind, const std::string& plural,
                       StatusPlace status = StatusPlace::kNone);

// Returns the kind that is defined so with this namespace in place of $NS.
kube::Gvk DefinedKind(const std::string& ns, const std::string& kind);
// An object of such a kind.
inline constexpr char kRobotYaml[] = R"(
apiVersion: $NS.example.io/v1
kind: Robot
metadata: {name: one, namespace: $NS}
spec: {arms: 2}
)";

// Returns a customization $NS of such a kind. `scripts` is the content of its spec.customizations:
// lines of YAML, indented by four.
std::string Customization(const std::string& kind, const std::string& scripts);

// Returns a policy "divided" for the selector, in YAML's flow style; it divides replicas between
// the two members by these weights.
std::string DividedPolicy(const std::string& selector, int member1, int member2);

}  // namespace tests

#endif  // TESTS_BEHAVIOUR_MANIFESTS_H_
