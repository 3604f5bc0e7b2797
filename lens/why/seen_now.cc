// First the message of the condition is explained as by ExplainRefusal. Then the member's present
// objects are looked at, as far as they were read: a namespace that is being deleted or is missing,
// and objects that are no longer in the way, give another cause and another advice, since following
// the old one would do nothing, or harm. What could not be read changes nothing of the first
// answer.

#include "lens/why/seen_now.h"

#include <set>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/binding.h"
#include "api/binding_address.h"
#include "api/keys.h"
#include "api/namespace_sync.h"
#include "api/work.h"
#include "lens/why/checks.h"
#include "lens/why/matching.h"
#include "lens/why/namespace_deletion.h"

namespace lens::why {
namespace {

// What fails is tried again after 1000 s at the latest, and at once when its Work changes.
std::string Wait(const Chain& chain, bool also_its_namespace) {
  return absl::StrCat(
      "wait: it is tried again by itself, within a quarter of an hour or so; at once after an edit "
      "of the template, for example: ",
      also_its_namespace ? absl::StrCat("kubectl annotate namespace ", chain.asked.key.ns,
                                        " retry=1 --overwrite; and then: ")
                         : "",
      chain.asked.Kubectl("annotate"), " retry=1 --overwrite");
}

void ExplainDeletion(const Chain& chain, const std::string& cluster, const kube::Object& space,
                     Refusal& refusal) {
  const std::string ns = chain.asked.key.ns;
  const std::string waits = WhatItWaitsFor(space);
  const std::string advice = HoldOf(space, cluster).advice;
  refusal.cause = absl::StrCat("its namespace is being deleted in ", cluster,
                               waits.empty() ? "" : absl::StrCat(" and waits", waits));
  if (waits.empty()) return;
  if (!advice.empty()) {
    // What it contains has to go first; its own finalizers are named with it.
    refusal.advice = absl::StrCat(advice, "; the namespace is made again afterwards");
    return;
  }
  refusal.advice = absl::StrCat(
      "see in ", cluster,
      " why the program that owns the finalizer does not end it; if that "
      "program has gone for good, take the finalizer off: kubectl edit namespace ",
      ns,
      ", by which what the namespace still contains there is lost; the namespace is made again "
      "afterwards");
}

// Explains why the member has no such namespace by that of the control plane.
void ExplainAbsence(const Chain& chain, const std::string& cluster, Refusal& refusal) {
  if (chain.space == nullptr) return;
  const std::string ns = chain.asked.key.ns;
  std::string claim;
  ClaimingPolicy(chain, *chain.space, &claim);
  const auto binding = chain.bindings.find(api::BindingOf("Namespace", {"", ns}).key);
  if (!claim.empty() && binding != chain.bindings.end()) {
    const std::set<std::string> clusters = api::BindingView(*binding->second).ExpectedClusters();
    if (clusters.count(cluster) > 0) return;
    absl::StrAppend(&refusal.cause, "; ", claim, " brings it to ",
                    clusters.empty() ? "no cluster" : absl::StrJoin(clusters, ", "),
                    clusters.empty() ? "" : " only");
    refusal.advice = absl::StrCat("have ", claim, " choose ", cluster,
                                  ", too, or create the namespace ", ns, " there");
    return;
  }
  const absl::string_view label = chain.space->Label(api::kSkipAutoPropagationLabel);
  if (!label.empty() && api::IsKeptFromSync(*chain.space)) {
    absl::StrAppend(&refusal.cause, "; Namespace ", ns, " of the control plane has the label ",
                    api::kSkipAutoPropagationLabel, "=", label,
                    ", so clusters do not get it on their own");
    refusal.advice = absl::StrCat(
        "remove the label (kubectl label namespace ", ns, " ", api::kSkipAutoPropagationLabel,
        "-), select the Namespace with a ClusterPropagationPolicy, or create it in ", cluster);
  }
}

void AddNamespace(const Chain& chain, const std::string& cluster, absl::string_view message,
                  Refusal& refusal) {
  const auto answer = chain.spaces.find(cluster);
  const bool is_known = answer != chain.spaces.end() && answer->second.status.ok();
  const kube::ObjectPtr space = is_known ? answer->second.object : nullptr;
  const bool was_deleted = absl::StrContains(message, kNamespaceEnds);
  if (space != nullptr && space->IsDeleting()) {
    return ExplainDeletion(chain, cluster, *space, refusal);
  }
  if (!is_known || (space == nullptr && !was_deleted)) {
    if (!was_deleted) ExplainAbsence(chain, cluster, refusal);
    return;
  }
  refusal.is_over = true;
  refusal.cause = absl::StrCat(
      "its namespace ", was_deleted ? "was being deleted in " : "did not exist in ", cluster,
      " when it was tried last, and ", space == nullptr ? "has gone by now" : "is there by now");
  refusal.advice = Wait(chain, /*also_its_namespace=*/space == nullptr);
}

// Returns whether the member has answered that it has no such object.
bool HasNone(const Chain& chain, const std::string& cluster) {
  const auto answer = chain.members.find(cluster);
  return answer != chain.members.end() && answer->second.status.ok() &&
         answer->second.direct.ok() && answer->second.object == nullptr;
}

}  // namespace

bool IsAboutNamespace(absl::string_view message) {
  return absl::StrContains(message, kNamespaceEnds) || SaysNoNamespace(message);
}

Objects ClustersWithoutNamespace(const Chain& chain) {
  constexpr size_t kMost = 10;  // The first ones stand for all.
  Objects clusters;
  for (const auto& [name, work] : chain.works) {
    const json::Value* applied =
        kube::FindCondition(api::WorkView(*work).Conditions(), api::kWorkApplied);
    const auto cluster = chain.clusters.find(name);
    if (applied == nullptr || cluster == chain.clusters.end() || !chain.Concerns(name)) continue;
    const bool is_refused = (*applied)["status"].AsString() == "False" &&
                            IsAboutNamespace((*applied)["message"].AsString());
    if (is_refused && clusters.size() < kMost) clusters.push_back(cluster->second);
  }
  return clusters;
}

Refusal ExplainRefusalNow(const Chain& chain, const std::string& cluster,
                          absl::string_view message) {
  Refusal refusal = ExplainRefusal(chain, cluster, message);
  if (IsAboutNamespace(message)) {
    AddNamespace(chain, cluster, message, refusal);
  } else if (absl::StrContains(message, kIsForeign) && HasNone(chain, cluster)) {
    refusal.is_over = true;
    refusal.cause = absl::StrCat(cluster,
                                 " had such an object that Karmada does not manage when "
                                 "it was tried last, and has none by now");
    refusal.advice = Wait(chain, /*also_its_namespace=*/false);
  }
  return refusal;
}

}  // namespace lens::why
