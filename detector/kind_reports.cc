// Two things are remembered between rounds of discovery. waiting_ holds the kinds whose templates
// wait for clusters: since when, and the policies that have an event about it, so that these and no
// others get one about the end. A kind that is not served any more, or that no policy selects any
// more, is forgotten by the next round. undecided_ holds the selectors of namespaced policies whose
// kind is not known yet; each round judges those that have become known. Policies are reported by
// informers' threads, rounds by the thread of WatchedKinds; mu_ guards what both use.

#include "detector/kind_reports.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/absent_clusters.h"
#include "api/reasons.h"
#include "base/log.h"
#include "detector/new_kinds.h"
#include "kube/meta/nearest_kind.h"

namespace detector {
namespace {

// Shorter waits are not reported as events.
constexpr absl::Duration kShortWait = absl::Seconds(3);

std::string NameOf(const kube::Gvk& gvk) { return absl::StrCat(gvk.ApiVersion(), " ", gvk.kind); }

// Distinguishes the policy from one that is made later under the same name.
std::pair<kube::ObjectKey, std::string> NameOf(const kube::Object& policy) {
  return {policy.key(), std::string(policy.uid())};
}

std::string NotServed(const kube::Gvk& wanted, const std::set<kube::Gvk>& served) {
  const std::optional<kube::Gvk> meant = kube::NearestKind(wanted, served);
  if (meant.has_value() && meant->group == wanted.group && meant->kind == wanted.kind) {
    return absl::StrCat("spec.resourceSelectors names ", NameOf(wanted),
                        ", but objects are propagated in the version that the control plane "
                        "prefers; did you mean ",
                        NameOf(*meant), "?");
  }
  return absl::StrCat("spec.resourceSelectors names ", NameOf(wanted),
                      ", which the control plane does not serve",
                      meant ? absl::StrCat("; did you mean ", NameOf(*meant), "?") : "");
}

// Returns the message about a wait that ended although these clusters do not serve the kind;
// `clusters` is "" when no cluster is ready.
std::string GivenUp(const kube::Gvk& kind, const std::string& clusters) {
  return absl::StrCat(
      "objects of the new kind ", NameOf(kind), " wait no longer, although ",
      clusters.empty() ? "no cluster is ready"
                       : absl::StrCat("these clusters do not serve it: ", clusters),
      "; the scheduler places no object where its kind is not served, and does not look again when "
      "it is: see that the clusters get the definition, then change the objects or name them in a "
      "WorkloadRebalancer");
}

}  // namespace

KindReports::KindReports(kube::Manager& manager, const PolicyIndex& policies,
                         const PolicyIndex& cluster_policies)
    : manager_(manager),
      policies_(policies),
      cluster_policies_(cluster_policies),
      recorder_(manager.events(), api::kDetectorSource) {}

kube::ObjectPtr KindReports::Policy(const kube::ObjectKey& key) const {
  const kube::ObjectPtr policy = (key.ns.empty() ? cluster_policies_ : policies_).Find(key);
  return policy == nullptr || policy->IsDeleting() ? nullptr : policy;
}

void KindReports::SetRefused(const kube::Object& policy, const RefusedSelectors& refused,
                             bool at_start) {
  ReportRefused(policy, refused.reasons, at_start);
  absl::MutexLock lock(&mu_);
  if (refused.undecided.empty()) {
    undecided_.erase(policy.key());
  } else {
    undecided_[policy.key()] = {refused.undecided, at_start};
  }
}

void KindReports::ReportRefused(const kube::Object& policy, const std::vector<std::string>& reasons,
                                bool at_start) {
  if (reasons.empty()) return;
  constexpr size_t kShown = 5;
  const size_t shown = std::min(reasons.size(), kShown);
  std::string message = absl::StrJoin(reasons.begin(), reasons.begin() + shown, "; ");
  if (reasons.size() > shown) {
    absl::StrAppend(&message, "; and so on, for ", reasons.size(), " reasons in all");
  }
  base::LogWarning("a policy has selectors that match nothing",
                   {{"policy", policy.Describe()}, {"message", message}});
  if (at_start) return;
  recorder_.Warning(kube::InvolvedObject::Of(policy), api::reason::kResourceNotPropagated, message);
}

void KindReports::ReportAbsentClusters(const kube::Object& policy,
                                       const std::vector<std::string>& absent) {
  if (absent.empty()) return;
  const std::string message = api::message::ClustersAreAbsent(absent);
  base::LogWarning("a policy names clusters that do not exist",
                   {{"policy", policy.Describe()}, {"message", message}});
  recorder_.Warning(kube::InvolvedObject::Of(policy), api::reason::kClusterNotFound, message);
}

void KindReports::DecideRefused() {
  std::map<kube::ObjectKey, Undecided> undecided;
  {
    absl::MutexLock lock(&mu_);
    // A copy, because the mapper and the reports below take locks of their own.
    undecided = undecided_;
  }
  for (const auto& [key, pending] : undecided) {
    std::set<kube::Gvk> left;
    std::vector<std::string> reasons;
    for (const kube::Gvk& gvk : pending.kinds) {
      const std::optional<kube::Resource> resource = manager_.cluster().mapper().Known(gvk);
      if (!resource.has_value()) {
        left.insert(gvk);
      } else if (!resource->namespaced) {
        reasons.push_back(ClusterScopedReason(gvk));
      }
    }
    const kube::ObjectPtr policy = Policy(key);
    if (policy != nullptr && left == pending.kinds) continue;  // Nothing has become known.
    {
      absl::MutexLock lock(&mu_);
      const auto entry = undecided_.find(key);
      // A change of the policy since then has been judged by itself.
      if (entry == undecided_.end() || entry->second.kinds != pending.kinds) continue;
      entry->second.kinds = left;
      if (left.empty() || policy == nullptr) undecided_.erase(entry);
    }
    if (policy != nullptr) ReportRefused(*policy, reasons, pending.at_start);
  }
}

void KindReports::SetServed(const kube::ServedKinds& served) {
  DecideRefused();
  std::erase_if(waiting_, [&](const auto& entry) {
    return !served.kinds.contains(entry.first) ||
           (policies_.Selecting(entry.first).empty() &&
            cluster_policies_.Selecting(entry.first).empty());
  });
  std::map<std::pair<kube::Gvk, bool>, std::vector<kube::ObjectPtr>> findings;
  for (const auto& finding : unserved_.SetServed(served, manager_.clock().SteadyNow())) {
    const kube::ObjectPtr policy = Policy(finding.policy);
    if (policy != nullptr) findings[{finding.kind, finding.at_start}].push_back(policy);
  }
  for (const auto& [kind, policies] : findings) {
    Report(policies, NotServed(kind.first, served.kinds), kind.second);
  }
}

void KindReports::Report(const std::vector<kube::ObjectPtr>& policies, const std::string& message,
                         bool at_start) {
  base::LogWarning("policies select a kind that is not served",
                   {{"message", message},
                    {"policies", policies.size()},
                    {"one of them", policies.front()->Describe()}});
  if (at_start) return;
  for (const kube::ObjectPtr& policy : policies) {
    recorder_.Warning(kube::InvolvedObject::Of(*policy), api::reason::kResourceNotServed, message);
  }
}

void KindReports::SetWaiting(const Wait& wait) {
  const base::SteadyTime now = manager_.clock().SteadyNow();
  const auto [entry, is_new] = waiting_.try_emplace(wait.kind, Known{.since = now, .begun = {}});
  Known& known = entry->second;
  const std::string clusters = absl::StrJoin(wait.clusters, ", ");
  if (is_new) {
    base::LogInfo("templates of a new kind wait for clusters to serve it",
                  {{"kind", wait.kind.ToString()}, {"clusters", clusters}});
  }
  if (wait.at_start || now < known.since + kShortWait) return;
  const std::string message = absl::StrCat(
      "objects of the new kind ", NameOf(wait.kind), " wait, for ",
      absl::FormatDuration(NewKinds::kLongestWait), " at most, until its clusters serve it",
      clusters.empty() ? "" : absl::StrCat("; these do not yet: ", clusters));
  for (const kube::ObjectPtr& policy : wait.policies) {
    if (!known.begun.insert(NameOf(*policy)).second) continue;
    recorder_.Normal(kube::InvolvedObject::Of(*policy), api::reason::kWaitingForKind, message);
  }
}

void KindReports::SetWaitOver(const Wait& wait) {
  const auto known = waiting_.extract(wait.kind);
  if (known.empty()) return;
  const std::string clusters = absl::StrJoin(wait.clusters, ", ");
  base::LogInfo("templates of a new kind do not wait any more",
                {{"kind", wait.kind.ToString()}, {"clusters without it", clusters}});
  const bool everywhere = wait.listed && wait.clusters.empty();
  const std::string message = everywhere ? absl::StrCat("the clusters serve ", NameOf(wait.kind),
                                                        " now; its objects are propagated")
                                         : GivenUp(wait.kind, clusters);
  for (const kube::ObjectPtr& policy : wait.policies) {
    // Only who was told that there is a wait is told its end.
    if (!known.mapped().begun.contains(NameOf(*policy))) continue;
    const kube::InvolvedObject about = kube::InvolvedObject::Of(*policy);
    if (everywhere) {
      recorder_.Normal(about, api::reason::kWaitForKindEnded, message);
    } else {
      recorder_.Warning(about, api::reason::kWaitForKindEnded, message);
    }
  }
}

}  // namespace detector
