#include "controllers/clusterstatus/ready_threshold.h"

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

kube::Condition ReadyThreshold::Adjust(const std::string& cluster, const kube::Condition& observed,
                                       const json::Value* current, base::SteadyTime now) {
  absl::MutexLock lock(&mu_);
  const auto [entry, is_new] = seen_.try_emplace(cluster, Seen{observed.status, now});
  Seen& seen = entry->second;
  if (is_new) return observed;
  if (seen.status != observed.status) seen = {observed.status, now};
  if (current == nullptr) return observed;
  const absl::string_view stored = (*current)["status"].AsString();
  // A change between Unknown and False passes at once.
  if ((stored == "True") == (observed.status == "True")) return observed;
  const absl::Duration threshold = observed.status == "True" ? success_ : failure_;
  return now - seen.since < threshold ? FromJson(*current) : observed;
}

void ReadyThreshold::Forget(const std::string& cluster) {
  absl::MutexLock lock(&mu_);
  seen_.erase(cluster);
}

}  // namespace controllers
