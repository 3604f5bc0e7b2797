// Objects of members that are not Karmada's: nodes, pods, EndpointSlices.
//
// The informers of MemberObjects hold only what Karmada has put into a member (label
// karmada.io/managed). A loop that reads anything else asks here. There is one informer for each
// member and kind, shared by all loops; it ends with the connection to the member.
//
//   context.inventory.Reads(api::Pods(), {"spec.nodeName"});             // In Register.
//   ASSIGN_OR_RETURN(auto pods, inventory.InformerFor(cluster, api::Pods()));  // In Reconcile.
//
// A loop that needs a kind only for some time follows it (Follow). One that needs fields of a
// shared kind only for some time says so while it does (SetReads).
#ifndef CONTROLLERS_CONTEXT_MEMBER_INVENTORY_H_
#define CONTROLLERS_CONTEXT_MEMBER_INVENTORY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
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

namespace controllers {

// Thread-safe.
class MemberInventory {
 public:
  // An informer with a handler of ours. The destructor removes the handler; when it was the last
  // one to follow an informer that only followers use, the watch ends. It must not run inside a
  // handler of the same member.
  class Followed;

  // REQUIRES: `members` outlives this object.
  explicit MemberInventory(kube::ClusterSet& members) : members_(members) {}

  // Registers which fields of a kind's objects a loop reads (kube::ListOptions::fields): members
  // have a hundred times as many objects as Karmada puts there. Only the fields that the loops have
  // registered for a kind are read and stored; of a kind without registered fields everything is.
  // Call it before the manager runs.
  void Reads(const kube::Resource& resource, const std::vector<std::string>& fields);

  // As Reads, at any time: sets what `loop` reads of the kind from now on, in place of what it set
  // before; no fields stand for a loop that does not read the kind any more. When this changes what
  // all loops together read, the informers of the kind end, and the next call of InformerFor
  // returns a new one, which lists the member again. It must not be called for kinds that are
  // followed, nor in a handler of a member.
  void SetReads(const std::string& loop, const kube::Resource& resource,
                const std::vector<std::string>& fields);

  // Returns the informer of all objects of the kind in the member; it is created and started if
  // need be. While it has not synced, a missing object means nothing. After
  // ClusterSet::OnReconnected, or after SetReads, a new informer is returned.
  absl::StatusOr<std::shared_ptr<kube::Informer>> InformerFor(const std::string& cluster,
                                                              const kube::Resource& resource);

  // Waits until an informer of InformerFor has synced. kAborted: it has ended, because of SetReads
  // or a reconnection, and InformerFor returns another one. Any other error, kDeadlineExceeded
  // after half a minute, means that it has not synced: there is no point in waiting longer after a
  // list has failed, since the member may be gone. kResourceExhausted: it has, but there is no
  // memory for all objects (Informer::LeavesOut).
  absl::Status Await(const std::string& cluster, const kube::Informer& informer,
                     const base::Clock& clock, const base::StopToken& stop) const;

  // As InformerFor, for as long as the result lives, and with a handler, which sees the objects
  // that are there as initial adds. The handler must not use the inventory. The result may outlive
  // the inventory.
  absl::StatusOr<std::unique_ptr<Followed>> Follow(const std::string& cluster,
                                                   const kube::Resource& resource,
                                                   kube::EventHandler handler);
  // Returns whether the informer is one of the member's present connection. After a reconnection,
  // or when the member has left, it has ended, and another one has to be followed.
  bool IsCurrent(const std::string& cluster, const Followed& followed) const;

 private:
  bool IsInUse(const std::string& cluster, const kube::Informer& informer) const;
  // Makes the informer if need be; `is_new` becomes whether it did.
  std::shared_ptr<kube::Informer> Informer(kube::MemberCluster& member,
                                           const kube::Resource& resource, bool& is_new);
  using Fields = std::set<std::string>;
  // Returns the fields that all loops together read.
  Fields FieldsOf(const kube::Resource& resource) const;

  kube::ClusterSet& members_;
  mutable absl::Mutex mu_;
  // By kind and loop. The loop is "" for Reads.
  std::map<kube::Gvr, std::map<std::string, Fields>> fields_ ABSL_GUARDED_BY(mu_);

  struct Followers {
    absl::Mutex mu;  // Taken before mu_.
    // How many there are of each informer that InformerFor has not returned.
    std::map<const kube::Informer*, int> counts ABSL_GUARDED_BY(mu);
  };
  const std::shared_ptr<Followers> followers_ = std::make_shared<Followers>();
};

class MemberInventory::Followed {
 public:
  ~Followed();
  Followed(const Followed&) = delete;

  const std::shared_ptr<kube::Informer>& informer() const { return informer_; }

 private:
  friend class MemberInventory;
  Followed(std::shared_ptr<Followers> followers, std::weak_ptr<kube::MemberCluster> member,
           std::shared_ptr<kube::Informer> informer)
      : followers_(std::move(followers)),
        member_(std::move(member)),
        informer_(std::move(informer)) {}

  const std::shared_ptr<Followers> followers_;
  const std::weak_ptr<kube::MemberCluster> member_;
  const std::shared_ptr<kube::Informer> informer_;
  int64_t handler_ = 0;
};

}  // namespace controllers

#endif  // CONTROLLERS_CONTEXT_MEMBER_INVENTORY_H_
