#include "lens/why/agents.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "api/agent_version.h"
#include "api/cluster.h"
#include "api/leadership.h"
#include "api/programs.h"
#include "api/resources.h"

namespace lens::why {
namespace {

kube::ObjectPtr AgentLease(const Chain& chain, const std::string& cluster) {
  const auto lease = chain.agents.find(cluster);
  return IsPull(chain, cluster) && lease != chain.agents.end() ? lease->second : nullptr;
}

// Returns what its Lease shows that the agent does: "is silent since ..."; "" without a Lease.
std::string DoingOfAgent(const Chain& chain, const std::string& cluster) {
  const kube::ObjectPtr lease = AgentLease(chain, cluster);
  if (lease == nullptr) return "";
  if (!api::WhyNobodyLeads(*lease, chain.now).empty()) {
    return absl::StrCat("is silent since ", lease->spec()["renewTime"].AsString());
  }
  const std::string run_out = api::RunOutFor(*lease, chain.now);
  return run_out.empty() ? "renews its Lease"
                         : absl::StrCat("last renewed its Lease ", run_out, " ago");
}

}  // namespace

bool IsPull(const Chain& chain, const std::string& cluster) {
  const auto found = chain.clusters.find(cluster);
  return found != chain.clusters.end() && api::ClusterView(*found->second).IsPull();
}

bool AnyIsPull(const Objects& objects) {
  return std::any_of(objects.begin(), objects.end(), [](const kube::ObjectPtr& object) {
    return object->gvk() == api::Clusters().gvk && api::ClusterView(*object).IsPull();
  });
}

Program AppliesIn(const Chain& chain, const std::string& cluster) {
  return IsPull(chain, cluster) ? Program::kAgent : Program::kControllerManager;
}

std::string ApplierIn(const Chain& chain, const std::string& cluster) {
  if (!IsPull(chain, cluster)) return api::kControllerManager;
  return absl::StrCat("the ", api::kAgent, " of ", cluster);
}

std::string WhyAgentIsSilent(const Chain& chain, const std::string& cluster) {
  const kube::ObjectPtr lease = AgentLease(chain, cluster);
  return lease == nullptr ? "" : api::WhyNobodyLeads(*lease, chain.now);
}

std::string AgentState(const Chain& chain, const std::string& cluster) {
  const std::string doing = DoingOfAgent(chain, cluster);
  return doing.empty() ? "" : absl::StrCat("its ", api::kAgent, " ", doing);
}

std::string AgentLine(const Chain& chain, const std::string& cluster) {
  const std::string doing = DoingOfAgent(chain, cluster);
  if (doing.empty()) return "";
  const std::string version = api::AgentVersion(*AgentLease(chain, cluster));
  if (!version.empty()) return absl::StrCat(api::kAgent, " ", version, " ", doing);
  return absl::StrCat(api::kAgent, " ", doing,
                      "; it has not written its version there, which upstream's never does");
}

bool AgentVouches(const Chain& chain, const std::string& cluster) {
  if (!IsPull(chain, cluster)) return false;
  const kube::ObjectPtr lease = AgentLease(chain, cluster);
  return api::ClusterView(*chain.clusters.at(cluster)).IsReady() &&
         (lease == nullptr || api::RunOutFor(*lease, chain.now).empty());
}

std::string AdviceForAgent(const Chain& chain, const std::string& cluster) {
  const kube::ObjectPtr lease = AgentLease(chain, cluster);
  const bool renews = lease != nullptr && api::RunOutFor(*lease, chain.now).empty();
  const auto found = chain.clusters.find(cluster);
  const absl::string_view ready =
      found == chain.clusters.end() ? "" : api::ClusterView(*found->second).ReadyStatus();
  if (renews && ready == "False") {
    return absl::StrCat("see whether the member's API server answers its ", api::kAgent,
                        ", which runs and reports this");
  }
  if (renews && ready == "Unknown") {
    return absl::StrCat("see in the log of ", api::kAgent, " in ", cluster,
                        " why it does not report the cluster's status");
  }
  return absl::StrCat("see whether ", api::kAgent, " runs in ", cluster,
                      " and reaches the control plane; what waits for it arrives by itself then");
}

}  // namespace lens::why
