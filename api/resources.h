// The kinds that the program knows, and how the API serves them.
#ifndef API_RESOURCES_H_
#define API_RESOURCES_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kube/meta/names.h"

namespace api {

// Karmada's own API groups, including those whose kinds this program does not know. Objects of
// these groups are never propagated.
absl::Span<const absl::string_view> KarmadaGroups();
bool IsKarmadaGroup(absl::string_view group);

const kube::Resource& PropagationPolicies();
const kube::Resource& ClusterPropagationPolicies();
const kube::Resource& OverridePolicies();
const kube::Resource& ClusterOverridePolicies();
const kube::Resource& ClusterTaintPolicies();
const kube::Resource& FederatedResourceQuotas();
const kube::Resource& Remedies();
const kube::Resource& ResourceBindings();
const kube::Resource& ClusterResourceBindings();
const kube::Resource& Works();
const kube::Resource& WorkloadRebalancers();
const kube::Resource& FederatedHpas();
const kube::Resource& CronFederatedHpas();
const kube::Resource& MultiClusterServices();
const kube::Resource& ServiceExports();
const kube::Resource& ServiceImports();
const kube::Resource& EndpointSlices();
const kube::Resource& Deployments();
const kube::Resource& HorizontalPodAutoscalers();
const kube::Resource& CertificateSigningRequests();
const kube::Resource& Clusters();
const kube::Resource& InterpreterCustomizations();
const kube::Resource& InterpreterWebhookConfigurations();
const kube::Resource& ExploringWebhookConfigurations();
const kube::Resource& Namespaces();
const kube::Resource& Secrets();
const kube::Resource& Services();
const kube::Resource& Nodes();
const kube::Resource& Pods();
const kube::Resource& Leases();
const kube::Resource& Events();
const kube::Resource& ClusterRoles();
const kube::Resource& ClusterRoleBindings();

}  // namespace api

#endif  // API_RESOURCES_H_
