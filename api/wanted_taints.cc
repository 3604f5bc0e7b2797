#include "api/wanted_taints.h"

#include <algorithm>
#include <utility>

#include "api/cluster_taint_policy.h"
#include "api/toleration.h"

namespace api {
namespace {

struct Entry {
  Taint taint;
  bool was_there = false;
  bool stays = true;
};

// The taints of the cluster, and all that policies have added so far, including those that a later
// policy has removed: one that removes a taint and one that adds it must not give it a new
// timeAdded in every pass.
class Ledger {
 public:
  explicit Ledger(const ClusterView& cluster) {
    for (Taint& taint : cluster.Taints()) entries_.push_back({std::move(taint), true});
  }

  void Add(Taint taint, absl::Time now) {
    if (Entry* entry = Find(taint)) {
      entry->stays = true;
      return;
    }
    taint.time_added = kube::FormatTime(now);
    entries_.push_back({std::move(taint)});
  }
  void Remove(const Taint& taint) {
    if (Entry* entry = Find(taint)) entry->stays = false;
  }
  bool Differs() const {
    return std::any_of(entries_.begin(), entries_.end(),
                       [](const Entry& entry) { return entry.stays != entry.was_there; });
  }
  std::vector<Taint> Taints() const {
    std::vector<Taint> taints;
    for (const Entry& entry : entries_) {
      if (entry.stays) taints.push_back(entry.taint);
    }
    return taints;
  }

 private:
  Entry* Find(const Taint& taint) {
    const auto found = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const Entry& e) { return e.taint.IsSame(taint); });
    return found == entries_.end() ? nullptr : &*found;
  }

  std::vector<Entry> entries_;
};

bool IsOlder(const kube::ObjectPtr& a, const kube::ObjectPtr& b) {
  const auto key = [](const kube::ObjectPtr& policy) {
    // Times in this form are in order when they are in alphabetical order.
    return std::make_pair(policy->metadata()["creationTimestamp"].AsString(), policy->name());
  };
  return key(a) < key(b);
}

// Returns when a condition of the cluster changed last; InfinitePast when that is unknown.
absl::Time LastChange(const ClusterView& cluster) {
  absl::Time last = absl::InfinitePast();
  for (const json::Value& condition : cluster.Conditions().items()) {
    const absl::StatusOr<absl::Time> changed =
        kube::ParseTime(condition["lastTransitionTime"].AsString());
    if (changed.ok()) last = std::max(last, *changed);
  }
  return last;
}

}  // namespace

std::optional<std::vector<Taint>> WantedTaints(const ClusterView& cluster,
                                               std::vector<kube::ObjectPtr> policies,
                                               absl::Time now) {
  std::sort(policies.begin(), policies.end(), IsOlder);
  Ledger ledger(cluster);
  for (const kube::ObjectPtr& object : policies) {
    const ClusterTaintPolicyView policy(*object);
    if (!policy.Targets(cluster)) continue;
    const std::vector<Taint> taints = policy.Taints();
    if (policy.AddsOn(cluster)) {
      for (const Taint& taint : taints) ledger.Add(taint, now);
    }
    if (policy.RemovesOn(cluster)) {
      for (const Taint& taint : taints) ledger.Remove(taint);
    }
  }
  if (!ledger.Differs()) return std::nullopt;
  return ledger.Taints();
}

std::vector<Taint> StandingNoExecuteTaints(const ClusterView& cluster,
                                           const std::vector<kube::ObjectPtr>& policies,
                                           absl::Time now) {
  std::vector<Taint> taints = NoExecuteTaints(cluster);
  if (taints.empty()) return taints;
  const absl::Time changed = LastChange(cluster);
  if (now - changed >= kTaintRemovalPatience) return taints;
  const std::optional<std::vector<Taint>> wanted = WantedTaints(cluster, policies, now);
  if (!wanted.has_value()) return taints;
  std::erase_if(taints, [&](const Taint& taint) {
    // Without a time of its own a taint is as old as may be.
    const absl::StatusOr<absl::Time> added = kube::ParseTime(taint.time_added);
    if (added.ok() && *added > changed) return false;
    return std::none_of(wanted->begin(), wanted->end(),
                        [&](const Taint& kept) { return kept.IsSame(taint); });
  });
  return taints;
}

}  // namespace api
