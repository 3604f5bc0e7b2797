#include "lens/why/health.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/reasons.h"
#include "interpreter/interpreter.h"

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

// Returns the messages of conditions that say what is wrong. Failures (ReplicaFailure: a quota, an
// admission webhook) come before what follows from them (Available, Progressing).
std::vector<std::string> Complaints(const kube::Object& object) {
  std::vector<std::string> failures, consequences;
  for (const json::Value& condition : object.status()["conditions"].items()) {
    const bool failure = absl::EndsWith(condition["type"].AsString(), "Failure");
    const absl::string_view status = condition["status"].AsString();
    if (status != (failure ? "True" : "False") || condition["message"].AsString().empty()) continue;
    (failure ? failures : consequences).push_back(condition["message"].ToString());
  }
  failures.insert(failures.end(), consequences.begin(), consequences.end());
  return failures;
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
  if (!why.empty()) reasons.push_back(why);
  const auto answer = chain.members.find(cluster);
  if (answer == chain.members.end() || answer->second.object == nullptr) return reasons;
  for (std::string& complaint : Complaints(*answer->second.object)) {
    if (complaint != why) reasons.push_back(std::move(complaint));
  }
  return reasons;
}

}  // namespace lens::why
