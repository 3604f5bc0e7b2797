// The sums over the inventories of the members, each kept up by its informers.
#ifndef CONTROLLERS_CLUSTERSTATUS_INVENTORY_TOTALS_H_
#define CONTROLLERS_CLUSTERSTATUS_INVENTORY_TOTALS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "controllers/clusterstatus/resource_totals.h"
#include "kube/cache/informer.h"
#include "loops/member_inventory.h"

namespace controllers {

// Totals belong to the informers that they are kept up by: a member that reconnects has other
// informers, whose lists build its totals anew. Thread-safe.
class InventoryTotals {
 public:
  // REQUIRES: the inventory outlives this.
  explicit InventoryTotals(loops::MemberInventory& inventory) : inventory_(inventory) {}

  struct Followed {
    // Until both have synced, the totals lack what is not listed yet.
    std::shared_ptr<kube::Informer> nodes, pods;
    std::shared_ptr<ResourceTotals> totals;
  };
  // Starts the informers of the cluster's nodes and pods if need be. Not from two threads at once
  // for one cluster.
  absl::StatusOr<Followed> Follow(const std::string& cluster);
  void Forget(const std::string& cluster);

 private:
  // The informers' handlers hold the totals, so that these go with them.
  struct Entry {
    std::weak_ptr<kube::Informer> nodes, pods;
    int64_t node_handler = 0, pod_handler = 0;
    std::weak_ptr<ResourceTotals> totals;
  };
  static void Detach(const Entry& entry);

  loops::MemberInventory& inventory_;
  absl::Mutex mu_;
  absl::flat_hash_map<std::string, Entry> entries_ ABSL_GUARDED_BY(mu_);
};

}  // namespace controllers

#endif  // CONTROLLERS_CLUSTERSTATUS_INVENTORY_TOTALS_H_
