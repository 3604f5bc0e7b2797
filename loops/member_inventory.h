// Objects of members that are not Karmada's: nodes, pods, EndpointSlices.
//
// The informers of MemberObjects hold only what Karmada has put into a member (label
// karmada.io/managed). A loop that reads anything else asks here. There is one informer for each
// member and kind, shared by all loops; it ends with the connection to the member.
//
//   context.inventory.Reads(api::Pods(), {"spec.nodeName"});             // In Register.
//   ASSIGN_OR_RETURN(auto pods, inventory.InformerFor(cluster, api::Pods()));  // In Reconcile.
#ifndef LOOPS_MEMBER_INVENTORY_H_
#define LOOPS_MEMBER_INVENTORY_H_

#include <map>
#include <memory>
#include <set>
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
  // REQUIRES: the set outlives this.
  explicit MemberInventory(kube::ClusterSet& members) : members_(members) {}

  // Members have a hundred times as many objects as Karmada puts there, so a loop names the fields
  // that it reads of them (kube::ListOptions::fields). What all loops together have named is read
  // and stored of a kind; of one for which none has named anything, everything is. Call it before
  // the manager runs.
  void Reads(const kube::Resource& resource, const std::vector<std::string>& fields);

  // The informer of all objects of the kind in the member, made and started if need be: it has to
  // sync before absence means anything. After ClusterSet::OnReconnected it is another one.
  absl::StatusOr<std::shared_ptr<kube::Informer>> InformerFor(const std::string& cluster,
                                                              const kube::Resource& resource);

 private:
  kube::InformerOptions OptionsFor(const kube::Resource& resource) const;

  kube::ClusterSet& members_;
  mutable absl::Mutex mu_;
  std::map<kube::Gvr, std::set<std::string>> fields_ ABSL_GUARDED_BY(mu_);
};

}  // namespace loops

#endif  // LOOPS_MEMBER_INVENTORY_H_
