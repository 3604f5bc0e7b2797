#include "controllers/clusterstatus/ready_threshold.h"

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

kube::Condition ReadyThreshold::Adjust(const std::string& cluster, const Observation& observed,
                                       const json::Value* current, base::SteadyTime now) {
  const kube::Condition& ready = observed.ready;
  absl::MutexLock lock(&mu_);
  const auto [entry, is_new] = seen_.try_emplace(
      cluster, Seen{observed.configuration, ready.status, now, ready.message, now});
  Seen& seen = entry->second;
  if (is_new) return ready;
  if (std::exchange(seen.status, ready.status) != ready.status) seen.since = now;
  if (std::exchange(seen.message, ready.message) != ready.message) seen.message_since = now;
  const bool reconfigured =
      std::exchange(seen.configuration, observed.configuration) != observed.configuration;
  if (current == nullptr) return ready;
  const bool was_true = (*current)["status"].AsString() == "True";
  const bool is_true = ready.status == "True";
  // A change between Unknown and False passes at once.
  if (was_true == is_true) {
    const bool same_reason = (*current)["status"].AsString() == ready.status &&
                             (*current)["reason"].AsString() == ready.reason;
    const bool held = same_reason && !reconfigured && now - seen.message_since < kMessageHold;
    return held ? FromJson(*current) : ready;
  }
  if (is_true && reconfigured) return ready;
  return now - seen.since < (is_true ? success_ : failure_) ? FromJson(*current) : ready;
}

void ReadyThreshold::Forget(const std::string& cluster) {
  absl::MutexLock lock(&mu_);
  seen_.erase(cluster);
}

}  // namespace controllers
