// Why an object, or its Work, has not left a cluster.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/cluster.h"
#include "api/keys.h"
#include "api/programs.h"
#include "api/resources.h"
#include "api/work.h"
#include "lens/why/agents.h"
#include "lens/why/checks.h"
#include "lens/why/namespace_deletion.h"
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

// The finalizer in the spec of each Namespace, which ends when it contains nothing any more.
constexpr char kOfEachNamespace[] = "kubernetes";

// Returns the Work in the cluster, which may be what is asked about; nullptr when there is none.
kube::ObjectPtr WorkIn(const Chain& chain, const std::string& cluster) {
  if (chain.asked.gvk == api::Works().gvk) return chain.object;
  const auto found = chain.works.find(cluster);
  return found == chain.works.end() ? nullptr : found->second;
}

}  // namespace

std::string WhatItWaitsFor(const kube::Object& object) {
  std::vector<std::string> names;
  for (const json::Value& item : object.metadata()["finalizers"].items()) {
    names.push_back(item.ToString());
  }
  if (!object.IsDeleting()) return "";
  // Those of a Namespace are in its spec, too.
  for (const json::Value& item : object.spec()["finalizers"].items()) {
    const bool is_named = object.kind() == "Namespace" && item.AsString() != kOfEachNamespace;
    if (is_named) names.push_back(item.ToString());
  }
  const std::string holds = HoldOf(object, "").text;
  if (names.empty() && holds.empty()) return "";
  return absl::StrCat(names.empty() ? " for what it contains"
                                    : absl::StrCat(names.size() == 1 ? " for its finalizer "
                                                                     : " for its finalizers ",
                                                   absl::StrJoin(names, ", ")),
                      holds.empty() ? "" : absl::StrCat(" (", holds, ")"));
}

std::string AdviceForHeld(const kube::Object& object, const std::string& cluster) {
  const std::string advice = HoldOf(object, cluster).advice;
  return advice.empty() ? absl::StrCat("see in ", cluster, kWhoseFinalizers) : advice;
}

namespace {

// As WhyNotRemoved, without the finalizers of others that the Work has besides one of Karmada's.
Removal WhyNotRemovedByKarmada(const Chain& chain, const std::string& cluster) {
  constexpr char kMend[] = "mend what the message says; it is tried again by itself";
  const bool pull = IsPull(chain, cluster);
  const kube::ObjectPtr work = WorkIn(chain, cluster);
  const auto member = chain.members.find(cluster);
  if (member != chain.members.end() && member->second.object != nullptr) {
    const std::string waits = WhatItWaitsFor(*member->second.object);
    if (!waits.empty()) {
      return {absl::StrCat(": the object there waits", waits),
              AdviceForHeld(*member->second.object, cluster)};
    }
  }
  const std::string silence = WhyNoAnswer(chain, cluster);
  if (!silence.empty()) {
    // Nobody asks a cluster in pull mode: its agent has to come.
    const bool is_mute = pull && !WhyAgentIsSilent(chain, cluster).empty();
    const std::string what =
        is_mute ? absl::StrCat("the ", api::kAgent, " of ", cluster, " does not come to remove it")
        : pull  ? absl::StrCat(cluster, " is not ready")
                : absl::StrCat(cluster, " does not answer");
    return {absl::StrCat(": ", what, " (", silence, ")"),
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

}  // namespace

Removal WhyNotRemoved(const Chain& chain, const std::string& cluster) {
  const kube::ObjectPtr work = WorkIn(chain, cluster);
  const Holders holders = work == nullptr ? Holders() : HoldersOf(*work);
  // Of a Work that is asked about itself, all finalizers are named already.
  if (holders.foreign.empty() || chain.object == work) {
    return WhyNotRemovedByKarmada(chain, cluster);
  }
  if (!holders.has_karmadas) {
    return {absl::StrCat(": it waits for ", ItsFinalizers(*work), " ", holders.text),
            holders.advice};
  }
  const Removal removal = WhyNotRemovedByKarmada(chain, cluster);
  return {absl::StrCat(removal.why, removal.why.empty() ? ": " : "; and ", "it waits for ",
                       ItsFinalizers(*work), " ", holders.text),
          absl::StrCat(removal.advice, "; and ", holders.advice)};
}

}  // namespace lens::why
