#include "controllers/cluster_taint_policy/wanted_taints.h"

#include <algorithm>
#include <utility>

#include "api/cluster_taint_policy.h"

namespace controllers {
namespace {

struct Entry {
  api::Taint taint;
  bool was_there = false;
  bool stays = true;
};

// The taints of the cluster, and all that policies have added so far, including those that a later
// policy has removed: one that removes a taint and one that adds it must not give it a new
// timeAdded in every pass.
class Ledger {
 public:
  explicit Ledger(const api::ClusterView& cluster) {
    for (api::Taint& taint : cluster.Taints()) entries_.push_back({std::move(taint), true});
  }

  void Add(api::Taint taint, absl::Time now) {
    if (Entry* entry = Find(taint)) {
      entry->stays = true;
      return;
    }
    taint.time_added = kube::FormatTime(now);
    entries_.push_back({std::move(taint)});
  }
  void Remove(const api::Taint& taint) {
    if (Entry* entry = Find(taint)) entry->stays = false;
  }
  bool Differs() const {
    return std::any_of(entries_.begin(), entries_.end(),
                       [](const Entry& entry) { return entry.stays != entry.was_there; });
  }
  std::vector<api::Taint> Taints() const {
    std::vector<api::Taint> taints;
    for (const Entry& entry : entries_) {
      if (entry.stays) taints.push_back(entry.taint);
    }
    return taints;
  }

 private:
  Entry* Find(const api::Taint& taint) {
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

}  // namespace

std::optional<std::vector<api::Taint>> WantedTaints(const api::ClusterView& cluster,
                                                    std::vector<kube::ObjectPtr> policies,
                                                    absl::Time now) {
  std::sort(policies.begin(), policies.end(), IsOlder);
  Ledger ledger(cluster);
  for (const kube::ObjectPtr& object : policies) {
    const api::ClusterTaintPolicyView policy(*object);
    if (!policy.Targets(cluster)) continue;
    const std::vector<api::Taint> taints = policy.Taints();
    if (policy.AddsOn(cluster)) {
      for (const api::Taint& taint : taints) ledger.Add(taint, now);
    }
    if (policy.RemovesOn(cluster)) {
      for (const api::Taint& taint : taints) ledger.Remove(taint);
    }
  }
  if (!ledger.Differs()) return std::nullopt;
  return ledger.Taints();
}

}  // namespace controllers
