#include "controllers/clusterstatus/inventory_totals.h"

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
