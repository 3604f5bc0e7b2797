#include "controllers/permissions/member_needs.h"

#include <string>
#include <utility>

#include "api/rbac.h"
#include "api/resources.h"
#include "controllers/permissions/grants.h"

namespace permissions {
namespace {

bool CollectsNodes(const config::Options& o) { return o.clusters.resource_modeling; }

Need InMember(std::string loop, Grants grants, std::string why = "") {
  return {Server::kMember, std::move(loop), std::move(grants), std::move(why)};
}

}  // namespace

std::vector<Need> MemberNeeds() {
  const Verbs all = Read({"create", "patch", "delete"});
  const Grant pods = On(api::Pods(), Read());
  return {
      InMember(kDiscovery, {Urls({"/api", "/api/*", "/apis", "/apis/*", "/version"})}),
      InMember("clusterStatus", {Urls({"/readyz", "/healthz"})}),
      If(CollectsNodes, InMember("clusterStatus", {On(api::Nodes(), Read()), pods})),
      InMember("execution", {Templates(all)}, "What is propagated is of any kind."),
      InMember("workStatus", {Templates(all)},
               "Objects that were changed or deleted in the member are put right."),
      InMember("applicationFailover", {Templates(Read())}),
      InMember("dependencies distributor", {Templates(Read())}),
      InMember("namespace", {On(api::Namespaces(), all)}),
      InMember("federatedResourceQuotaSync", {{"", {"resourcequotas"}, all}}),
      InMember("unifiedAuth",
               {On(api::ClusterRoles(), all), On(api::ClusterRoleBindings(), all),
                On(api::ClusterRoles(), {"escalate"}),
                Named(On(api::ClusterRoles(), {"bind"}), {api::kImpersonator})},
               "The role of the impersonator grants `impersonate`, which this account itself does "
               "not have; RBAC cannot limit `escalate` to a name when a role is created."),
      InMember("serviceExport",
               {On(api::ServiceExports(), Read()), On(api::EndpointSlices(), Read())}),
      InMember("endpointsliceCollect", {On(api::EndpointSlices(), Read())}),
      InMember("multiclusterservice", {On(api::Services(), all)}),
      InMember("endpointsliceDispatch", {On(api::EndpointSlices(), all)}),
      InMember("federatedHorizontalPodAutoscaler", {pods, Templates({"get"}, "scale")}),
  };
}

}  // namespace permissions
