// Reasons are ordered by what says most: failures that the object's conditions name, what its Pods
// say, what the rule for its health says, or else the last event, and what only follows from these.
// No state.

#include "lens/why/health.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/reasons.h"
#include "api/resources.h"
#include "api/work.h"
#include "interpreter/interpreter.h"
#include "lens/why/expected.h"
#include "lens/why/pods.h"
#include "lens/why/refusals.h"

namespace lens::why {
namespace {

// Returns "" when the last event says that the object is healthy, or gives no reason.
std::string WhyByEvents(const Chain& chain, const kube::Object& work) {
  const kube::ObjectPtr event =
      LastEvent(chain, work,
                {api::reason::kInterpretHealthSucceed, api::reason::kUnhealthy,
                 api::reason::kInterpretHealthFailed});
  if (event == nullptr) return "";
  const absl::string_view text = event->root()["message"].AsString();
  if (event->root()["reason"].AsString() == api::reason::kInterpretHealthFailed) {
    return std::string(text);
  }
  return api::message::WhyUnhealthyIn(text);
}

// The messages of conditions that say what is wrong: failures (ReplicaFailure: a quota, an
// admission webhook) are the cause of what follows from them (Available, Progressing, too few
// replicas).
struct Told {
  std::vector<std::string> failures, consequences;
};

Told WhatItTells(const kube::Object& object) {
  Told told;
  for (const json::Value& condition : object.status()["conditions"].items()) {
    const bool failure = absl::EndsWith(condition["type"].AsString(), "Failure");
    const absl::string_view status = condition["status"].AsString();
    if (status != (failure ? "True" : "False") || condition["message"].AsString().empty()) continue;
    (failure ? told.failures : told.consequences).push_back(condition["message"].ToString());
  }
  return told;
}

}  // namespace

std::string WhyUnhealthy(const Chain& chain, const std::string& cluster, const kube::Object& work) {
  const auto answer = chain.members.find(cluster);
  const bool is_here = answer != chain.members.end() && answer->second.object != nullptr;
  if (!is_here || chain.rules == nullptr ||
      chain.rules->IsAnsweredByWebhook(chain.asked.gvk, interpreter::Operation::kInterpretHealth)) {
    return WhyByEvents(chain, work);
  }
  const absl::StatusOr<interpreter::Health> health =
      chain.rules->WithoutWebhooks().InterpretHealth(*answer->second.object);
  if (!health.ok()) return std::string(health.status().message());
  return health->healthy ? "" : health->message;
}

std::string FailureOfJob(const Chain& chain, const std::string& cluster, const kube::Object& work) {
  if (chain.asked.gvk.group != "batch" || chain.asked.gvk.kind != "Job") return "";
  const auto answer = chain.members.find(cluster);
  const bool is_here = answer != chain.members.end() && answer->second.object != nullptr;
  const json::Value status =
      is_here ? answer->second.object->status() : StatusIn(chain, work).status;
  const json::Value* failed = kube::FindCondition(status["conditions"], "Failed");
  if (failed == nullptr || (*failed)["status"].AsString() != "True") return "";
  const absl::string_view reason = (*failed)["reason"].AsString();
  const absl::string_view message = (*failed)["message"].AsString();
  return absl::StrCat(reason, reason.empty() || message.empty() ? "" : ": ", message);
}

std::vector<std::string> ReasonsForBadHealth(const Chain& chain, const std::string& cluster,
                                             const kube::Object& work) {
  std::vector<std::string> reasons;
  const std::string why = WhyUnhealthy(chain, cluster, work);
  const auto answer = chain.members.find(cluster);
  const bool is_here = answer != chain.members.end() && answer->second.object != nullptr;
  const Told told = is_here ? WhatItTells(*answer->second.object) : Told();
  for (const std::string& failure : told.failures) reasons.push_back(failure);
  for (const PodTrouble& trouble : PodTroublesIn(chain, cluster)) reasons.push_back(trouble.text);
  if (!why.empty()) reasons.push_back(why);
  for (const std::string& consequence : told.consequences) reasons.push_back(consequence);
  std::set<std::string> seen;
  reasons.erase(std::remove_if(reasons.begin(), reasons.end(),
                               [&](const std::string& r) { return !seen.insert(r).second; }),
                reasons.end());
  return reasons;
}

std::string LookAtIt(const Chain& chain, const std::string& cluster) {
  if (chain.is_of_lists) return chain.asked.AskAbout(chain.asked.gvk, chain.asked.key);
  return absl::StrCat("look at it; in ", cluster, ": ", chain.asked.Kubectl("describe"));
}

std::string AdviceForPaused(const Chain& chain) {
  return absl::StrCat("when it shall go on: kubectl -n ", chain.asked.key.ns,
                      " rollout resume deployment ", chain.asked.key.name);
}

std::string AdviceForStandstill(const Standstill& standstill) {
  return absl::StrCat("when it shall go on there: take spec.", standstill.field, " out of ",
                      standstill.overrides);
}

Standstill StandstillIn(const Chain& chain, const kube::Object& work) {
  const kube::Gvk& gvk = chain.asked.gvk;
  const api::WorkView view(work);
  const auto index = view.IndexOf(kube::Object::Make(gvk, chain.asked.key));
  if (!index.has_value() || chain.object == nullptr) return {};
  std::string field;
  if (gvk.group == "apps" && gvk.kind == "Deployment") field = "paused";
  if (gvk.group == "batch") field = "suspend";
  const kube::Object manifest(view.Manifests()[*index]);
  if (field.empty() || !manifest.spec()[field].AsBool()) return {};
  if (chain.object->spec()[field].AsBool()) return {std::move(field)};
  return {std::move(field), absl::StrJoin(OverridesOf(work, chain.asked.key.ns), " or ")};
}

std::string AdviceForBadHealth(const Chain& chain, const std::string& cluster,
                               const std::vector<std::string>& why) {
  const std::string known = why.empty() ? "" : AdviceForPods(chain, cluster, why[0]);
  if (!known.empty()) return absl::StrCat(known, "; ", LookAtIt(chain, cluster));
  for (const PodTrouble& trouble : PodTroublesIn(chain, cluster)) {
    if (!why.empty() && trouble.text == why[0]) return trouble.advice;
  }
  const bool is_balanced = chain.asked.gvk == api::Services().gvk &&
                           chain.object->spec()["type"].AsString() == "LoadBalancer";
  if (is_balanced) {
    return absl::StrCat("see whether ", cluster,
                        " has a controller that gives Services of type LoadBalancer an address; "
                        "in ",
                        cluster, ": ", chain.asked.Kubectl("describe"));
  }
  return LookAtIt(chain, cluster);
}

}  // namespace lens::why
