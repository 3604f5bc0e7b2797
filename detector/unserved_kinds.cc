// A pair of policy and kind is missing from the moment at which the policy selects a kind that the
// last round of discovery did not contain. The first round without the kind sets the time; a later
// one, when kPatience is over, returns the pair as a finding, once. The pair is dropped when the
// policy does not select the kind any more, or a round contains the kind; after that it begins
// again. A round that could not read the kind's group does not count. All of it is under mu_,
// because policies are reported by other threads than rounds.

#include "detector/unserved_kinds.h"

#include "kube/discovery/failed_groups.h"

namespace detector {
void UnservedKinds::SetSelected(const kube::ObjectKey& policy, const std::set<kube::Gvk>& kinds,
                                bool at_start) {
  absl::MutexLock lock(&mu_);
  for (auto entry = missing_.begin(); entry != missing_.end();) {
    if (!kinds.contains(entry->first)) entry->second.erase(policy);
    entry = entry->second.empty() ? missing_.erase(entry) : std::next(entry);
  }
  for (const kube::Gvk& gvk : kinds) {
    if (!served_.contains(gvk)) missing_[gvk].try_emplace(policy, Missing{.at_start = at_start});
  }
}

std::vector<UnservedKinds::Finding> UnservedKinds::SetServed(const kube::ServedKinds& served,
                                                             base::SteadyTime now) {
  std::vector<Finding> findings;
  absl::MutexLock lock(&mu_);
  served_ = served.kinds;
  std::erase_if(missing_, [&](const auto& entry) { return served.kinds.contains(entry.first); });
  std::map<kube::ObjectKey, size_t> reported;
  for (auto& [gvk, policies] : missing_) {
    if (kube::IsUnread(served.failed_groups, gvk.ApiVersion())) continue;
    for (auto& [policy, missing] : policies) {
      const bool first = missing.since == base::SteadyTime::InfiniteFuture();
      if (first) missing.since = now;
      if (first || missing.reported || now < missing.since + kPatience) continue;
      if (++reported[policy] > kMostOfPolicy) continue;
      missing.reported = true;
      findings.push_back({policy, gvk, missing.at_start});
    }
  }
  return findings;
}

}  // namespace detector
