// Why an object, or its Work, has not left a cluster.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/cluster.h"
#include "api/keys.h"
#include "api/resources.h"
#include "api/work.h"
#include "lens/why/agents.h"
#include "lens/why/checks.h"
#include "lens/why/own_deletions.h"
#include "lens/why/refusals.h"

namespace lens::why {
namespace {

// Returns what the Cluster, or the member itself, says about why it does not answer; "" when it
// does, or nothing is known.
std::string WhyNoAnswer(const Chain& chain, const std::string& cluster) {
  const auto found = chain.clusters.find(cluster);
  if (found != chain.clusters.end() && !api::ClusterView(*found->second).IsReady()) {
    const json::Value* ready =
        kube::FindCondition(api::ClusterView(*found->second).Conditions(), api::kClusterReady);
    if (ready == nullptr) return "it has no condition Ready yet";
    const std::string agent = AgentState(chain, cluster);
    return absl::StrCat((*ready)["reason"].AsString(), ": ", (*ready)["message"].AsString(),
                        agent.empty() ? "" : "; ", agent);
  }
  const auto member = chain.members.find(cluster);
  const bool is_silent = member != chain.members.end() &&
                         absl::IsUnavailable(member->second.status) &&
                         !AgentVouches(chain, cluster);  // It need not answer from here.
  return is_silent ? std::string(member->second.status.message()) : "";
}

// Returns the Work in the cluster, which may be what is asked about; nullptr when there is none.
kube::ObjectPtr WorkIn(const Chain& chain, const std::string& cluster) {
  if (chain.asked.gvk == api::Works().gvk) return chain.object;
  const auto found = chain.works.find(cluster);
  return found == chain.works.end() ? nullptr : found->second;
}

}  // namespace

std::string WaitsForFinalizers(const kube::Object& object) {
  std::vector<std::string> names;
  for (const json::Value& item : object.metadata()["finalizers"].items()) {
    names.push_back(item.ToString());
  }
  if (!object.IsDeleting() || names.empty()) return "";
  return absl::StrCat(" for its finalizers ", absl::StrJoin(names, ", "));
}

Removal WhyNotRemoved(const Chain& chain, const std::string& cluster) {
  constexpr char kMend[] = "mend what the message says; it is tried again by itself";
  const bool pull = IsPull(chain, cluster);
  const kube::ObjectPtr work = WorkIn(chain, cluster);
  if (const ForeignHold hold = work == nullptr ? ForeignHold() : HeldByOthers(*work);
      !hold.why.empty() && chain.object != work) {
    return {absl::StrCat(": it waits for its finalizers ", hold.why), hold.advice};
  }
  const auto member = chain.members.find(cluster);
  if (member != chain.members.end() && member->second.object != nullptr) {
    const std::string waits = WaitsForFinalizers(*member->second.object);
    if (!waits.empty()) {
      return {absl::StrCat(": the object there waits", waits),
              absl::StrCat("see in ", cluster, kWhoseFinalizers)};
    }
  }
  const std::string silence = WhyNoAnswer(chain, cluster);
  if (!silence.empty()) {
    return {absl::StrCat(": ", cluster, " does not answer (", silence, ")"),
            absl::StrCat(pull ? AdviceForAgent(chain, cluster)
                              : "see whether the member's API server answers; the rest happens by "
                                "itself then",
                         ", and until then the Work keeps note of what has to be deleted there")};
  }
  const Removal unknown = {
      "", pull ? AdviceForAgent(chain, cluster) : "see whether the cluster can be reached"};
  if (work == nullptr || !work->IsDeleting()) return unknown;
  const json::Value* applied =
      kube::FindCondition(api::WorkView(*work).Conditions(), api::kWorkApplied);
  const bool failed = applied != nullptr && (*applied)["status"].AsString() == "False";
  if (!failed) return unknown;
  const std::string message = (*applied)["message"].ToString();
  const std::string known = ExplainRefusal(chain, cluster, message).advice;
  return {absl::StrCat(": ", message),
          known.empty() ? kMend : absl::StrCat(known, "; it is tried again by itself")};
}

}  // namespace lens::why
