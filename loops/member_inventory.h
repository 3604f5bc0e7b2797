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
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "kube/cache/informer.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "kube/runtime/cluster_set.h"

namespace loops {

// Thread-safe.
class MemberInventory {
 public:
  // REQUIRES: `members` outlives this object.
  explicit MemberInventory(kube::ClusterSet& members) : members_(members) {}

  // Registers which fields of a kind's objects a loop reads (kube::ListOptions::fields): members
  // have a hundred times as many objects as Karmada puts there. Only the fields that the loops have
  // registered for a kind are read and stored; of a kind without registered fields everything is.
  // Call it before the manager runs.
  void Reads(const kube::Resource& resource, const std::vector<std::string>& fields);

  // Returns the informer of all objects of the kind in the member; it is created and started if
  // need be. While it has not synced, a missing object means nothing. After
  // ClusterSet::OnReconnected a new informer is returned.
  absl::StatusOr<std::shared_ptr<kube::Informer>> InformerFor(const std::string& cluster,
                                                              const kube::Resource& resource);

 private:
  kube::InformerOptions OptionsFor(const kube::Resource& resource) const;

  kube::ClusterSet& members_;
  mutable absl::Mutex mu_;
  std::map<kube::Gvr, std::set<std::string>> fields_ ABSL_GUARDED_BY(mu_);
};

// Waits until the informer has synced. An error, kDeadlineExceeded after half a minute, means that
// it has not: there is no point in waiting longer after a list has failed, since the member may be
// gone.
absl::Status AwaitInventory(const kube::Informer& informer, const base::Clock& clock,
                            const base::StopToken& stop);

}  // namespace loops

#endif  // LOOPS_MEMBER_INVENTORY_H_
