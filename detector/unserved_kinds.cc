// A pair of policy and kind is missing from the moment at which the policy selects a kind that the
// last round of discovery did not contain. The first round without the kind sets the time; a later
// one, when kPatience is over, returns the pair as a finding, once. The pair is dropped when the
// policy does not select the kind any more, or a round contains the kind; it begins anew after
// that. A round that could not read the kind's group does not count. All of it is under mu_,
// because policies are reported by other threads than rounds.
#include "detector/unserved_kinds.h"

#include <functional>

#include "absl/strings/match.h"
#include "base/spelling.h"
#include "kube/client/failed_groups.h"

namespace detector {
namespace {

using Filter = std::function<bool(const kube::Gvk&)>;

// Returns, of the kinds that the filter lets through, the one whose `text` is nearest to that of
// `wanted`.
std::optional<kube::Gvk> Nearest(const kube::Gvk& wanted, const std::set<kube::Gvk>& served,
                                 const Filter& filter, std::string (*text)(const kube::Gvk&)) {
  std::vector<kube::Gvk> kinds;
  std::vector<std::string> texts;
  for (const kube::Gvk& gvk : served) {
    if (!filter(gvk)) continue;
    kinds.push_back(gvk);
    texts.push_back(text(gvk));
  }
  const std::optional<size_t> nearest = base::NearestName(text(wanted), texts);
  if (!nearest.has_value()) return std::nullopt;
  return kinds[*nearest];
}

std::string KindOf(const kube::Gvk& gvk) { return gvk.kind; }
std::string ApiVersionOf(const kube::Gvk& gvk) { return gvk.ApiVersion(); }

// Returns a served kind of the same name in another group or version. When no apiVersion is
// similar, the core group's kind is preferred.
std::optional<kube::Gvk> OfTheSameName(const kube::Gvk& wanted, const std::set<kube::Gvk>& served) {
  const auto same = [&](const kube::Gvk& gvk) {
    return absl::EqualsIgnoreCase(gvk.kind, wanted.kind);
  };
  const std::optional<kube::Gvk> nearest = Nearest(wanted, served, same, ApiVersionOf);
  if (nearest.has_value()) return nearest;
  for (const kube::Gvk& gvk : served) {
    if (same(gvk)) return gvk;
  }
  return std::nullopt;
}

}  // namespace

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
  for (auto& [gvk, policies] : missing_) {
    if (kube::IsUnread(served.failed_groups, gvk.ApiVersion())) continue;
    for (auto& [policy, missing] : policies) {
      const bool first = missing.since == base::SteadyTime::InfiniteFuture();
      if (first) missing.since = now;
      if (first || missing.reported || now < missing.since + kPatience) continue;
      missing.reported = true;
      findings.push_back({policy, gvk, missing.at_start});
    }
  }
  return findings;
}

std::optional<kube::Gvk> NearestKind(const kube::Gvk& wanted, const std::set<kube::Gvk>& served) {
  if (const auto same = OfTheSameName(wanted, served)) return same;
  const auto same_group = [&](const kube::Gvk& gvk) { return gvk.group == wanted.group; };
  if (const auto similar = Nearest(wanted, served, same_group, KindOf)) return similar;
  return Nearest(
      wanted, served, [](const kube::Gvk&) { return true; }, KindOf);
}

}  // namespace detector
