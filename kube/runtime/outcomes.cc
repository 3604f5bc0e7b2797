#include "kube/runtime/outcomes.h"

#include "base/log.h"
#include "kube/client/errors.h"

namespace kube {
namespace {

Request WithoutReason(Request request) {
  request.reason = {};
  return request;
}

}  // namespace

absl::Status Outcomes::Judge(const Request& of, absl::string_view part,
                             const absl::Status& result) {
  const bool is_conflict = IsConflict(result);
  if (!is_conflict && absl::IsCancelled(result)) return result;
  absl::MutexLock lock(&mu_);
  if (!is_conflict && states_.empty()) return result;
  const Name name{WithoutReason(of), std::string(part)};
  if (!is_conflict) {
    const auto found = states_.find(name);
    if (found == states_.end()) return result;
    found->second.conflicts = 0;
    EraseIfIdle(found);
    return result;
  }
  const int conflicts = ++states_[name].conflicts;
  if (conflicts <= kSilentConflicts) return result;
  if (base::VlogOn(1)) {
    base::LogInfo("conflicts do not end by trying again", {{"request", of.Describe()},
                                                           {"part", part},
                                                           {"in a row", conflicts},
                                                           {"last", result.message()}});
  }
  return absl::FailedPreconditionError(result.message());
}

bool Outcomes::Recovered(const Request& of, absl::string_view part, bool ok) {
  absl::MutexLock lock(&mu_);
  if (ok && states_.empty()) return false;
  Name name{WithoutReason(of), std::string(part)};
  if (!ok) {
    states_[std::move(name)].has_failed = true;
    return false;
  }
  const auto found = states_.find(name);
  if (found == states_.end()) return false;
  const bool recovered = std::exchange(found->second.has_failed, false);
  EraseIfIdle(found);
  return recovered;
}

void Outcomes::EraseIfIdle(absl::btree_map<Name, State>::iterator at) {
  if (!at->second.has_failed && at->second.conflicts == 0) states_.erase(at);
}

void Outcomes::Forget(const Request& of, absl::string_view part) {
  absl::MutexLock lock(&mu_);
  if (!states_.empty()) states_.erase(Name{WithoutReason(of), std::string(part)});
}

void Outcomes::Forget(const Request& of) {
  absl::MutexLock lock(&mu_);
  if (states_.empty()) return;
  const Request named = WithoutReason(of);
  auto at = states_.lower_bound(Name{named, ""});
  while (at != states_.end() && at->first.first == named) at = states_.erase(at);
}

void Outcomes::ForgetCluster(absl::string_view cluster) {
  absl::MutexLock lock(&mu_);
  absl::erase_if(states_, [&](const auto& entry) { return entry.first.first.cluster == cluster; });
}

void Outcomes::ForgetKind(const Gvk& gvk) {
  absl::MutexLock lock(&mu_);
  absl::erase_if(states_, [&](const auto& entry) { return entry.first.first.gvk == gvk; });
}

}  // namespace kube
