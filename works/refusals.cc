#include "works/refusals.h"

#include <algorithm>

#include "base/release_room.h"
#include "kube/client/errors.h"

namespace works {

absl::Status Refusals::Check(const Object& object, const json::Value& change) const {
  absl::MutexLock lock(&mu_);
  const auto found = refused_.find(object);
  if (found == refused_.end()) return absl::OkStatus();
  const Refusal& refusal = found->second;
  const bool too_early = clock_.SteadyNow() < refusal.until;
  return too_early && refusal.change == change ? refusal.error : absl::OkStatus();
}

void Refusals::Note(const Object& object, const json::Value& change, const absl::Status& result) {
  absl::MutexLock lock(&mu_);
  const auto found = refused_.find(object);
  // Requests that are denied for other reasons (403 of a quota, a webhook) may soon be accepted.
  if (!kube::IsInvalid(result) && !kube::IsFieldConflict(result)) {
    if (found == refused_.end()) return;
    refused_.erase(found);
    return base::ReleaseRoom(refused_);
  }
  const bool again = found != refused_.end() && found->second.change == change;
  const absl::Duration pause =
      again ? std::min(found->second.pause * 2, kLongestPause) : kFirstPause;
  refused_[object] = {change, result, pause, clock_.SteadyNow() + pause};
}

void Refusals::Forget(const std::function<bool(const Object&)>& gone) {
  absl::MutexLock lock(&mu_);
  absl::erase_if(refused_, [&](const auto& entry) { return gone(entry.first); });
  base::ReleaseRoom(refused_);
}

}  // namespace works
