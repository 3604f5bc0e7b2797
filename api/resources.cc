// The table of the kinds that the program is built around: group, version, kind, plural name and
// scope. Each is made at its first use and never destroyed, so that threads that still run while
// the process ends may refer to it. The scope decides how paths are written, so a kind that is not
// namespaced has to say kClusterScoped here.

#include "api/resources.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace api {

namespace {

constexpr bool kClusterScoped = false;

kube::Resource Make(kube::Gvk gvk, const char* plural, bool namespaced = true) {
  return {std::move(gvk), plural, namespaced};
}

constexpr absl::string_view kKarmadaGroups[] = {
    "apps.karmada.io",       "autoscaling.karmada.io", "cluster.karmada.io", "config.karmada.io",
    "networking.karmada.io", "policy.karmada.io",      "remedy.karmada.io",  "work.karmada.io",
};

}  // namespace

absl::Span<const absl::string_view> KarmadaGroups() { return kKarmadaGroups; }

bool IsKarmadaGroup(absl::string_view group) {
  return std::find(std::begin(kKarmadaGroups), std::end(kKarmadaGroups), group) !=
         std::end(kKarmadaGroups);
}

const kube::Resource& PropagationPolicies() {
  static const auto& resource = *new kube::Resource(
      Make({"policy.karmada.io", "v1alpha1", "PropagationPolicy"}, "propagationpolicies"));
  return resource;
}

const kube::Resource& ClusterPropagationPolicies() {
  static const auto& resource =
      *new kube::Resource(Make({"policy.karmada.io", "v1alpha1", "ClusterPropagationPolicy"},
                               "clusterpropagationpolicies", kClusterScoped));
  return resource;
}

const kube::Resource& OverridePolicies() {
  static const auto& resource = *new kube::Resource(
      Make({"policy.karmada.io", "v1alpha1", "OverridePolicy"}, "overridepolicies"));
  return resource;
}

const kube::Resource& ClusterOverridePolicies() {
  static const auto& resource =
      *new kube::Resource(Make({"policy.karmada.io", "v1alpha1", "ClusterOverridePolicy"},
                               "clusteroverridepolicies", kClusterScoped));
  return resource;
}

const kube::Resource& ClusterTaintPolicies() {
  static const auto& resource =
      *new kube::Resource(Make({"policy.karmada.io", "v1alpha1", "ClusterTaintPolicy"},
                               "clustertaintpolicies", kClusterScoped));
  return resource;
}

const kube::Resource& FederatedResourceQuotas() {
  static const auto& resource = *new kube::Resource(
      Make({"policy.karmada.io", "v1alpha1", "FederatedResourceQuota"}, "federatedresourcequotas"));
  return resource;
}

const kube::Resource& Remedies() {
  static const auto& resource = *new kube::Resource(
      Make({"remedy.karmada.io", "v1alpha1", "Remedy"}, "remedies", kClusterScoped));
  return resource;
}

const kube::Resource& ResourceBindings() {
  static const auto& resource = *new kube::Resource(
      Make({"work.karmada.io", "v1alpha2", "ResourceBinding"}, "resourcebindings"));
  return resource;
}

const kube::Resource& ClusterResourceBindings() {
  static const auto& resource =
      *new kube::Resource(Make({"work.karmada.io", "v1alpha2", "ClusterResourceBinding"},
                               "clusterresourcebindings", kClusterScoped));
  return resource;
}

const kube::Resource& Works() {
  static const auto& resource =
      *new kube::Resource(Make({"work.karmada.io", "v1alpha1", "Work"}, "works"));
  return resource;
}

const kube::Resource& FederatedHpas() {
  static const auto& resource = *new kube::Resource(
      Make({"autoscaling.karmada.io", "v1alpha1", "FederatedHPA"}, "federatedhpas"));
  return resource;
}

const kube::Resource& CronFederatedHpas() {
  static const auto& resource = *new kube::Resource(
      Make({"autoscaling.karmada.io", "v1alpha1", "CronFederatedHPA"}, "cronfederatedhpas"));
  return resource;
}

const kube::Resource& MultiClusterServices() {
  static const auto& resource = *new kube::Resource(
      Make({"networking.karmada.io", "v1alpha1", "MultiClusterService"}, "multiclusterservices"));
  return resource;
}

const kube::Resource& ServiceExports() {
  static const auto& resource = *new kube::Resource(
      Make({"multicluster.x-k8s.io", "v1alpha1", "ServiceExport"}, "serviceexports"));
  return resource;
}

const kube::Resource& ServiceImports() {
  static const auto& resource = *new kube::Resource(
      Make({"multicluster.x-k8s.io", "v1alpha1", "ServiceImport"}, "serviceimports"));
  return resource;
}

const kube::Resource& EndpointSlices() {
  static const auto& resource =
      *new kube::Resource(Make({"discovery.k8s.io", "v1", "EndpointSlice"}, "endpointslices"));
  return resource;
}

const kube::Resource& Deployments() {
  static const auto& resource =
      *new kube::Resource(Make({"apps", "v1", "Deployment"}, "deployments"));
  return resource;
}

const kube::Resource& HorizontalPodAutoscalers() {
  static const auto& resource = *new kube::Resource(
      Make({"autoscaling", "v2", "HorizontalPodAutoscaler"}, "horizontalpodautoscalers"));
  return resource;
}

const kube::Resource& WorkloadRebalancers() {
  static const auto& resource =
      *new kube::Resource(Make({"apps.karmada.io", "v1alpha1", "WorkloadRebalancer"},
                               "workloadrebalancers", kClusterScoped));
  return resource;
}

const kube::Resource& CertificateSigningRequests() {
  static const auto& resource =
      *new kube::Resource(Make({"certificates.k8s.io", "v1", "CertificateSigningRequest"},
                               "certificatesigningrequests", kClusterScoped));
  return resource;
}

const kube::Resource& Clusters() {
  static const auto& resource = *new kube::Resource(
      Make({"cluster.karmada.io", "v1alpha1", "Cluster"}, "clusters", kClusterScoped));
  return resource;
}

const kube::Resource& InterpreterCustomizations() {
  static const auto& resource = *new kube::Resource(
      Make({"config.karmada.io", "v1alpha1", "ResourceInterpreterCustomization"},
           "resourceinterpretercustomizations", kClusterScoped));
  return resource;
}

const kube::Resource& InterpreterWebhookConfigurations() {
  static const auto& resource = *new kube::Resource(
      Make({"config.karmada.io", "v1alpha1", "ResourceInterpreterWebhookConfiguration"},
           "resourceinterpreterwebhookconfigurations", kClusterScoped));
  return resource;
}

const kube::Resource& ExploringWebhookConfigurations() {
  static const auto& resource = *new kube::Resource(
      Make({"config.karmada.io", "v1alpha1", "ResourceExploringWebhookConfiguration"},
           "resourceexploringwebhookconfigurations", kClusterScoped));
  return resource;
}

const kube::Resource& Namespaces() {
  static const auto& resource =
      *new kube::Resource(Make({"", "v1", "Namespace"}, "namespaces", kClusterScoped));
  return resource;
}

const kube::Resource& Secrets() {
  static const auto& resource = *new kube::Resource(Make({"", "v1", "Secret"}, "secrets"));
  return resource;
}

const kube::Resource& Services() {
  static const auto& resource = *new kube::Resource(Make({"", "v1", "Service"}, "services"));
  return resource;
}

const kube::Resource& Nodes() {
  static const auto& resource =
      *new kube::Resource(Make({"", "v1", "Node"}, "nodes", kClusterScoped));
  return resource;
}

const kube::Resource& Pods() {
  static const auto& resource = *new kube::Resource(Make({"", "v1", "Pod"}, "pods"));
  return resource;
}

const kube::Resource& Leases() {
  static const auto& resource =
      *new kube::Resource(Make({"coordination.k8s.io", "v1", "Lease"}, "leases"));
  return resource;
}

const kube::Resource& Events() {
  static const auto& resource = *new kube::Resource(Make({"", "v1", "Event"}, "events"));
  return resource;
}

const kube::Resource& ClusterRoles() {
  static const auto& resource = *new kube::Resource(
      Make({"rbac.authorization.k8s.io", "v1", "ClusterRole"}, "clusterroles", kClusterScoped));
  return resource;
}

const kube::Resource& ClusterRoleBindings() {
  static const auto& resource =
      *new kube::Resource(Make({"rbac.authorization.k8s.io", "v1", "ClusterRoleBinding"},
                               "clusterrolebindings", kClusterScoped));
  return resource;
}

}  // namespace api
