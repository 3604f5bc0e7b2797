// The rights of each loop, as the calls of its code need them. A right that only one flag or gate
// brings stands in a line of its own with that condition.
//
// Some rights only the admission plugin OwnerReferencesPermissionEnforcement asks for, which some
// installations have: `update` of the finalizers of an owner whose deletion a reference blocks, and
// `delete` of an existing object whose owners are changed.

#include <utility>

#include "api/keys.h"
#include "api/programs.h"
#include "api/resources.h"
#include "api/signing_request.h"
#include "cmd/controller-manager/permissions.h"
#include "controllers/permissions/grants.h"
#include "controllers/permissions/member_needs.h"

namespace cmd {
namespace {

using config::Gate;
using permissions::Grant;
using permissions::Grants;
using permissions::If;
using permissions::Join;
using permissions::kDiscovery;
using permissions::kTemplates;
using permissions::Named;
using permissions::Need;
using permissions::On;
using permissions::Read;
using permissions::Server;
using permissions::Templates;
using permissions::Urls;
using permissions::Verbs;
using permissions::With;

constexpr char kAuthorizationGroup[] = "authorization.k8s.io";
constexpr char kMetricsGroup[] = "metrics.k8s.io";
constexpr char kCustomMetricsGroup[] = "custom.metrics.k8s.io";
constexpr char kExternalMetricsGroup[] = "external.metrics.k8s.io";

Grants Bindings(const Verbs& verbs) {
  return {On(api::ResourceBindings(), verbs), On(api::ClusterResourceBindings(), verbs)};
}

// What lies in the control plane about members and leads to them.
Grants Members() { return {On(api::Clusters(), Read()), On(api::Secrets(), Read())}; }

Grants OverridePolicies() {
  return {On(api::OverridePolicies(), Read()), On(api::ClusterOverridePolicies(), Read())};
}

Grants WritesWorks() {
  return {On(api::Works(), Read({"create", "patch", "delete"})), On(api::Namespaces(), Read()),
          On(api::Clusters(), Read())};
}

bool Elects(const config::Options& o) { return o.leader_election.enabled; }
bool IsShadow(const config::Options& o) { return o.shadow; }

Need AtControlPlane(std::string loop, Grants grants, std::string why = "") {
  return {Server::kControlPlane, std::move(loop), std::move(grants), std::move(why)};
}

std::vector<Need> Basics() {
  const kube::Resource& leases = api::Leases();
  return {
      AtControlPlane(kDiscovery, {Urls({"/api", "/api/*", "/apis", "/apis/*", "/version"})}),
      If(Elects, AtControlPlane(kElection,
                                {On(leases, {"create"}),
                                 Named(On(leases, Read({"update"})), {api::kControllerManager})},
                                "RBAC cannot limit a creation to a name.")),
      AtControlPlane(kEvents, {On(api::Events(), {"create", "patch"})},
                     "Events lie in the namespaces of what they are about."),
      If(IsShadow, AtControlPlane(kLeader,
                                  {On(api::Events(), {"list"}),
                                   Named(On(leases, {"get"}), {api::kControllerManager})},
                                  "A shadow tells by them whether anybody leads, and what fails "
                                  "with the leader, too.")),
      AtControlPlane(kInterpreter, {On(api::InterpreterCustomizations(), Read()),
                                    On(api::InterpreterWebhookConfigurations(), Read()),
                                    On(api::ExploringWebhookConfigurations(), Read()),
                                    On(api::Services(), Read())}),
      AtControlPlane("member clusters", Members(),
                     "The Secrets are those that Clusters name, which can lie in any namespace."),
  };
}

std::vector<Need> Propagation() {
  const Verbs writes = Read({"create", "patch", "delete"});
  return {
      AtControlPlane(
          "resource detector",
          Join(Join({Templates(Read({"patch"})),
                     Templates({"update"}, "finalizers"),
                     On(api::PropagationPolicies(), Read({"patch"})),
                     On(api::ClusterPropagationPolicies(), Read({"patch"})),
                     On(api::Clusters(), Read()),
                     On(api::Works(), Read()),
                     {"scheduling.k8s.io", {"priorityclasses"}, Read()}},
                    OverridePolicies()),
               Bindings(writes)),
          "Templates are of any kind and get labels. Bindings name their templates as owners, for "
          "which the admission plugin OwnerReferencesPermissionEnforcement asks for `finalizers` "
          "of the owner, and for `delete` when the owners of an object change."),
      AtControlPlane(
          "dependencies distributor",
          Join({Templates(Read()), On(api::ResourceBindings(), writes), On(api::Works(), Read())},
               Members()),
          "Dependencies are of any kind."),
      AtControlPlane("binding",
                     Join(Join({Templates(Read()), On(api::PropagationPolicies(), Read()),
                                On(api::ClusterPropagationPolicies(), Read())},
                               OverridePolicies()),
                          Join(Bindings(Read({"patch"})), WritesWorks()))),
      AtControlPlane("bindingStatus",
                     Join({Templates(Read({"patch"})), Templates({"patch"}, "status"),
                           On(api::Works(), Read()), On(api::Clusters(), Read()),
                           On(api::ResourceBindings(), "status", {"patch"}),
                           On(api::ClusterResourceBindings(), "status", {"patch"})},
                          Bindings(Read())),
                     "The status of a template is a subresource, or a part of the object."),
      AtControlPlane("execution",
                     Join(Join({On(api::Works(), Read({"create", "patch", "delete"})),
                                On(api::Works(), "status", {"patch"})},
                               Bindings(Read())),
                          Members()),
                     "A second Work stands in for one that leaves its objects to the next."),
      AtControlPlane("workStatus",
                     Join(Join({On(api::Works(), Read()), On(api::Works(), "status", {"patch"})},
                               Bindings(Read())),
                          Members())),
      AtControlPlane("namespace", Join({On(api::Namespaces(), "finalizers", {"update"}),
                                        On(api::ClusterResourceBindings(), Read())},
                                       Join(WritesWorks(), OverridePolicies()))),
  };
}

std::vector<Need> Clusters() {
  const Verbs patch = {"patch"};
  const Grants moves = Join(Bindings(Read({"patch"})), Members());
  return {
      AtControlPlane(
          "cluster",
          Join({On(api::Clusters(), Read({"patch"})), On(api::Clusters(), "status", patch),
                On(api::Namespaces(), Read({"create", "delete"})),
                On(api::Works(), Read({"patch"})), On(api::Leases(), Read())},
               Bindings(Read())),
          "The namespaces are named `karmada-es-*`; RBAC knows no patterns of names."),
      With(
          Gate::kFailover,
          AtControlPlane(
              "cluster", Join({On(api::ClusterTaintPolicies(), Read())}, Bindings(Read({"patch"}))),
              "The taint manager evicts, but not by taints that policies are about to remove.")),
      AtControlPlane(
          "clusterStatus",
          Join({On(api::Clusters(), "status", patch), On(api::Works(), Read())}, Members())),
      AtControlPlane("clustertaintpolicy", {On(api::Clusters(), Read({"patch"})),
                                            On(api::ClusterTaintPolicies(), Read())}),
      AtControlPlane("remedy", {On(api::Clusters(), Read()), On(api::Clusters(), "status", patch),
                                On(api::Remedies(), Read())}),
      AtControlPlane("applicationFailover", moves),
      AtControlPlane("gracefulEviction", moves),
      AtControlPlane("unifiedAuth",
                     Join({On(api::ClusterRoles(), Read()), On(api::ClusterRoleBindings(), Read()),
                           On(api::Clusters(), "finalizers", {"update"})},
                          WritesWorks())),
      AtControlPlane("agentcsrapproving",
                     {On(api::CertificateSigningRequests(), Read()),
                      On(api::CertificateSigningRequests(), "approval", {"get", "patch"}),
                      {kAuthorizationGroup, {"subjectaccessreviews"}, {"create"}},
                      {api::CertificateSigningRequests().gvk.group,
                       {"signers"},
                       {"approve"},
                       {api::kApiServerClientSigner}}}),
      AtControlPlane("Cluster API detector",
                     {On(api::Clusters(), Read({"create", "patch", "delete"})),
                      On(api::Secrets(), Read({"create", "patch", "delete"})),
                      On(api::Clusters(), "finalizers", {"update"}),
                      On(api::Namespaces(), {"get", "create"})}),
  };
}

std::vector<Need> Workloads() {
  const Verbs patch = {"patch"};
  const Verbs ask = {"get", "list"};
  const kube::Resource& quotas = api::FederatedResourceQuotas();
  return {
      AtControlPlane(
          "federatedResourceQuotaEnforcement",
          {On(quotas, Read()), On(quotas, "status", patch), On(api::ResourceBindings(), Read())}),
      AtControlPlane("federatedResourceQuotaStatus",
                     {On(quotas, Read()), On(quotas, "status", patch), On(api::Works(), Read())}),
      AtControlPlane("federatedResourceQuotaSync", Join({On(quotas, Read())}, WritesWorks())),
      AtControlPlane("workloadRebalancer", Join({On(api::WorkloadRebalancers(), Read({"delete"})),
                                                 On(api::WorkloadRebalancers(), "status", patch)},
                                                Bindings(Read({"patch"})))),
      AtControlPlane("deploymentReplicasSyncer", {On(api::Deployments(), Read({"patch"})),
                                                  On(api::ResourceBindings(), Read())}),
      AtControlPlane("hpaScaleTargetMarker",
                     {On(api::HorizontalPodAutoscalers(), Read()), Templates(Read({"patch"}))},
                     "Autoscalers scale templates of any kind."),
      AtControlPlane("federatedHorizontalPodAutoscaler",
                     Join({On(api::FederatedHpas(), Read()),
                           On(api::FederatedHpas(), "status", patch),
                           On(api::ResourceBindings(), Read()),
                           Templates({"get"}),
                           Templates({"get", "patch"}, "scale"),
                           {kMetricsGroup, {"pods"}, ask},
                           {kCustomMetricsGroup, {"*"}, ask},
                           {kExternalMetricsGroup, {"*"}, ask}},
                          Members()),
                     "The resources of the metrics APIs are the names of metrics."),
      AtControlPlane(
          "cronFederatedHorizontalPodAutoscaler",
          {On(api::CronFederatedHpas(), Read()), On(api::CronFederatedHpas(), "status", patch),
           On(api::FederatedHpas(), {"get", "patch"}), Templates({"get"}),
           Templates({"get", "patch"}, "scale")}),
  };
}

std::vector<Need> Services() {
  const Verbs all = {"create", "patch", "delete"};
  const Grants collects = Join(WritesWorks(), Members());
  const kube::Resource& services = api::MultiClusterServices();
  return {
      AtControlPlane("serviceExport", collects),
      AtControlPlane("endpointsliceCollect", collects),
      AtControlPlane("endpointSlice",
                     {On(api::Works(), Read({"patch"})), On(api::EndpointSlices(), Read(all))}),
      AtControlPlane("serviceImport",
                     {On(api::ServiceImports(), Read()), On(api::Services(), Read(all)),
                      On(api::Services(), "status", {"patch"})}),
      AtControlPlane(
          "multiclusterservice",
          Join({On(services, Read({"patch"})), On(services, "status", {"patch"}),
                On(api::Services(), Read({"patch"})), On(api::Services(), "finalizers", {"update"}),
                On(api::ResourceBindings(), Read({"create", "patch", "delete"}))},
               WritesWorks())),
      AtControlPlane(
          "endpointsliceDispatch",
          Join({On(services, Read()), On(services, "status", {"patch"})}, WritesWorks())),
  };
}

}  // namespace

const std::vector<permissions::Need>& Needs() {
  static const auto& needs = *new std::vector<Need>([] {
    std::vector<Need> all;
    for (const auto& part : {Basics(), Propagation(), Clusters(), Workloads(), Services(),
                             permissions::MemberNeeds()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }());
  return needs;
}

}  // namespace cmd
