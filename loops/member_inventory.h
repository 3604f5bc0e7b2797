// Objects of members that are not Karmada's: nodes, pods, EndpointSlices.
//
// The informers of MemberObjects hold only what Karmada has put into a member (label
// karmada.io/managed). A loop that reads anything else asks here. There is one informer for each
// member and kind, shared by all loops; it ends with the connection to the member.
//
//   context.inventory.Trim(api::Pods(), TrimPod);                        // In Register.
//   ASSIGN_OR_RETURN(auto pods, inventory.InformerFor(cluster, api::Pods()));  // In Reconcile.
#ifndef LOOPS_MEMBER_INVENTORY_H_
#define LOOPS_MEMBER_INVENTORY_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "kube/cache/informer.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "kube/runtime/cluster_set.h"

namespace loops {

// Thread-safe.
class MemberInventory {
 public:
  // Takes from an object what nobody reads.
  using TrimFn = std::function<void(kube::Object&)>;

  // REQUIRES: the set outlives this.
  explicit MemberInventory(kube::ClusterSet& members) : members_(members) {}

  // Members have a hundred times as many objects as Karmada puts there, so a loop says what it
  // reads of them. Objects of a kind that one loop trims are stored so; a kind for which several
  // loops have said something is stored whole. Call it before the manager runs, once for each loop
  // and kind.
  void Trim(const kube::Resource& resource, TrimFn trim);

  // The informer of all objects of the kind in the member, made and started if need be: it has to
  // sync before absence means anything. After ClusterSet::OnReconnected it is another one.
  absl::StatusOr<std::shared_ptr<kube::Informer>> InformerFor(const std::string& cluster,
                                                              const kube::Resource& resource);

 private:
  kube::InformerOptions OptionsFor(const kube::Resource& resource) const;

  kube::ClusterSet& members_;
  mutable absl::Mutex mu_;
  std::map<kube::Gvr, std::vector<TrimFn>> trims_ ABSL_GUARDED_BY(mu_);
};

}  // namespace loops

#endif  // LOOPS_MEMBER_INVENTORY_H_
