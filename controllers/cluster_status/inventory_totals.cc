// Follow compares the member's present informers with those that the totals are attached to. When
// they are the same, the totals are up to date. When the member has been connected again, or is
// new, the old handlers are taken off, and new totals are attached to the new informers, whose
// first lists build them. entries_ holds weak references only: the handlers keep the totals alive,
// for as long as the informers are. mu_ guards the table; it is not held while handlers are added
// or removed, which waits for handlers that run. A member is followed by one worker at a time.

#include "controllers/cluster_status/inventory_totals.h"

#include <utility>

#include "api/resources.h"
#include "base/status.h"

namespace controllers {

absl::StatusOr<InventoryTotals::Followed> InventoryTotals::Follow(const std::string& cluster) {
  Followed now;
  ASSIGN_OR_RETURN(now.nodes, inventory_.InformerFor(cluster, api::Nodes()));
  ASSIGN_OR_RETURN(now.pods, inventory_.InformerFor(cluster, api::Pods()));
  Entry stale;
  {
    absl::MutexLock lock(&mu_);
    Entry& known = entries_[cluster];
    now.totals = known.totals.lock();
    if (now.totals != nullptr && known.nodes.lock() == now.nodes && known.pods.lock() == now.pods) {
      return now;
    }
    stale = std::exchange(known, Entry());
  }
  Detach(stale);
  now.totals = std::make_shared<ResourceTotals>();
  const Entry entry = {now.nodes, now.pods, now.nodes->AddHandler(NodeHandler(now.totals)),
                       now.pods->AddHandler(PodHandler(now.totals)), now.totals};
  absl::MutexLock lock(&mu_);
  entries_[cluster] = entry;
  return now;
}

void InventoryTotals::Forget(const std::string& cluster) {
  Entry gone;
  {
    absl::MutexLock lock(&mu_);
    const auto found = entries_.find(cluster);
    if (found == entries_.end()) return;
    gone = std::move(found->second);
    entries_.erase(found);
  }
  Detach(gone);
}

void InventoryTotals::Detach(const Entry& entry) {
  if (const auto nodes = entry.nodes.lock()) nodes->RemoveHandler(entry.node_handler);
  if (const auto pods = entry.pods.lock()) pods->RemoveHandler(entry.pod_handler);
}

}  // namespace controllers
