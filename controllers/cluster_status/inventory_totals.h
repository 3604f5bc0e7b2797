// The totals of the members' nodes and pods, which the members' informers keep up to date.
#ifndef CONTROLLERS_CLUSTER_STATUS_INVENTORY_TOTALS_H_
#define CONTROLLERS_CLUSTER_STATUS_INVENTORY_TOTALS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "controllers/cluster_status/resource_totals.h"
#include "controllers/context/member_inventory.h"
#include "kube/cache/informer.h"

namespace controllers {

// Totals belong to the informers that update them: a member that reconnects has new informers,
// whose lists build its totals again. Thread-safe.
class InventoryTotals {
 public:
  // REQUIRES: `inventory` outlives this object.
  explicit InventoryTotals(MemberInventory& inventory) : inventory_(inventory) {}

  struct Followed {
    // Until both have synced, the totals lack objects that are not listed yet.
    std::shared_ptr<kube::Informer> nodes, pods;
    std::shared_ptr<ResourceTotals> totals;
  };
  // Returns the totals of the cluster; its informers of nodes and pods are started if need be. Must
  // not be called by two threads at once for one cluster.
  absl::StatusOr<Followed> Follow(const std::string& cluster);
  void Forget(const std::string& cluster);

 private:
  // The informers' handlers own the totals, so that the totals end with the informers.
  struct Entry {
    std::weak_ptr<kube::Informer> nodes, pods;
    int64_t node_handler = 0, pod_handler = 0;
    std::weak_ptr<ResourceTotals> totals;
  };
  static void Detach(const Entry& entry);

  MemberInventory& inventory_;
  absl::Mutex mu_;
  absl::flat_hash_map<std::string, Entry> entries_ ABSL_GUARDED_BY(mu_);
};

}  // namespace controllers

#endif  // CONTROLLERS_CLUSTER_STATUS_INVENTORY_TOTALS_H_
