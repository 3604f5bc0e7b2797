#include "controllers/cluster_status/ready_threshold.h"

#include <algorithm>
#include <utility>

namespace controllers {
namespace {

kube::Condition FromJson(const json::Value& c) {
  kube::Condition condition;
  condition.type = c["type"].ToString();
  condition.status = c["status"].ToString();
  condition.reason = c["reason"].ToString();
  condition.message = c["message"].ToString();
  return condition;
}

}  // namespace

void ReadyThreshold::Note(Seen& seen, const Observation& observed, base::SteadyTime now) const {
  const kube::Condition& ready = observed.ready;
  if (std::exchange(seen.status, ready.status) != ready.status) seen.since = now;
  if (std::exchange(seen.message, ready.message) != ready.message) seen.message_since = now;
  if (std::exchange(seen.configuration, observed.configuration) != observed.configuration) {
    // The member is reached in another way: what failed before says nothing about it.
    seen.repaired = true;
    seen.repaired_at = now;
    seen.cause_told.clear();
  }
  if (std::exchange(seen.cause, observed.cause) != observed.cause) seen.cause_since = now;
  const bool held = !seen.cause.empty() && !seen.cause_told.empty();
  if (!held || now - seen.cause_since >= kMessageHold) seen.cause_told = seen.cause;
  const bool fails = ready.status != "True";
  if (fails && now - std::max(seen.since, seen.repaired_at) >= failure_) seen.repaired = false;
}

kube::Condition ReadyThreshold::Adjust(const std::string& cluster, const Observation& observed,
                                       const json::Value* current, base::SteadyTime now) {
  const kube::Condition& ready = observed.ready;
  absl::MutexLock lock(&mu_);
  const bool is_true = ready.status == "True";
  const auto [entry, is_new] =
      seen_.try_emplace(cluster, Seen{.configuration = observed.configuration,
                                      .repaired = is_true,
                                      .repaired_at = now,
                                      .status = ready.status,
                                      .since = now,
                                      .message = ready.message,
                                      .message_since = now,
                                      .cause = observed.cause,
                                      .cause_since = now,
                                      .cause_told = observed.cause});
  Seen& seen = entry->second;
  if (is_new) return ready;
  Note(seen, observed, now);
  if (current == nullptr) return ready;
  const bool was_true = (*current)["status"].AsString() == "True";
  if (was_true && is_true) seen.repaired = false;
  // A change between Unknown and False passes at once.
  if (was_true == is_true) {
    const bool same_reason = (*current)["status"].AsString() == ready.status &&
                             (*current)["reason"].AsString() == ready.reason;
    const bool held = same_reason && !seen.repaired && now - seen.message_since < kMessageHold;
    return held ? FromJson(*current) : ready;
  }
  if (is_true && seen.repaired) return ready;
  return now - seen.since < (is_true ? success_ : failure_) ? FromJson(*current) : ready;
}

std::string ReadyThreshold::CauseToTell(const std::string& cluster) {
  absl::MutexLock lock(&mu_);
  const auto seen = seen_.find(cluster);
  return seen == seen_.end() ? "" : seen->second.cause_told;
}

void ReadyThreshold::Forget(const std::string& cluster) {
  absl::MutexLock lock(&mu_);
  seen_.erase(cluster);
}

}  // namespace controllers
