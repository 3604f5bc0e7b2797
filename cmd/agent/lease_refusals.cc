#include "cmd/agent/lease_refusals.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "kube/client/errors.h"

namespace cmd {
namespace {

absl::Duration Doubled(absl::Duration pause) {
  return std::min(pause * 2, LeaseRefusals::kLongestPause);
}

}  // namespace

bool LeaseRefusals::MayWrite(const std::string& lease) const {
  if (!MayWrite()) return false;
  const auto found = refused_.find(lease);
  return found == refused_.end() || clock_.SteadyNow() >= found->second.next;
}

void LeaseRefusals::Note(const std::string& lease, const absl::Status& written) {
  if (absl::IsCancelled(written)) return;
  const bool lost_race =
      kube::IsConflict(written) || kube::AlreadyExists(written) || kube::IsGone(written);
  if (written.ok() || lost_race) {
    refused_.erase(lease);
    pause_ = kFirstPause;
    return;
  }
  const base::SteadyTime now = clock_.SteadyNow();
  // Those of clusters that are gone are forgotten.
  std::erase_if(refused_,
                [now](const auto& one) { return now >= one.second.next + 2 * kLongestPause; });
  Refusal& refusal = refused_[lease];
  refusal.next = now + std::exchange(refusal.pause, Doubled(refusal.pause));
  next_ = now + std::exchange(pause_, Doubled(pause_));
  Log(lease, written);
}

void LeaseRefusals::Log(const std::string& lease, const absl::Status& why) {
  const std::string kind = base::KindOfMessage(why.ToString(), lease);
  const base::RepeatedErrors::Verdict verdict = logged_.Note(kind, clock_.SteadyNow());
  if (!verdict.log) return;
  const std::string more = verdict.More();
  base::LogWarning(absl::StrCat("a Lease of the hosting cluster cannot be written",
                                more.empty() ? "" : ", ", more),
                   {{"lease", lease}, {"error", why}});
}

}  // namespace cmd
