// Garbage collection by owner references, as in kube-controller-manager: an object is deleted when
// all its owners are gone; the finalizers "orphan" and "foregroundDeletion" of a deleted owner are
// carried out.
#ifndef SANDBOX_SIM_GARBAGE_COLLECTOR_H_
#define SANDBOX_SIM_GARBAGE_COLLECTOR_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "kube/meta/object.h"
#include "sandbox/sim/controller.h"

namespace sandbox {

class GarbageCollector {
 public:
  // REQUIRES: `backend` and `loop` outlive this object.
  GarbageCollector(Backend& backend, EventLoop& loop);

 private:
  // An object that has owners, or that is deleted and waits for its dependents.
  struct Node {
    kube::Gvk gvk;
    kube::ObjectKey key;
    std::vector<kube::OwnerRef> owners;
    std::set<std::string> gone_owners;  // The uids of owners whose deletion was seen.
  };
  enum class OwnerState { kSolid, kGone, kWaitsForDependents };

  void OnEvent(const Event& event);
  void Learn(const std::string& uid, const kube::Object& object) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Unlearn(const std::string& uid) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void EnqueueUid(const std::string& uid) { controller_.Enqueue({"", uid}); }

  absl::Status Reconcile(const std::string& uid);
  absl::Status CollectUnowned(const std::string& uid, const Node& node,
                              const kube::Resource& resource, const kube::Object& object);
  absl::StatusOr<OwnerState> StateOf(const Node& node, const kube::OwnerRef& owner);
  absl::Status OrphanDependents(const std::string& uid, const kube::Resource& resource,
                                const kube::Object& owner);
  absl::Status DeleteDependentsFirst(const std::string& uid, const kube::Resource& resource,
                                     const kube::Object& owner);
  absl::Status RemoveOwners(const Node& node, const std::set<std::string>& owner_uids);
  // Returns the known dependents of `uid`, by their own uids.
  std::map<std::string, Node> DependentsOf(const std::string& uid);

  Backend& backend_;
  absl::Mutex mu_;
  std::map<std::string, Node> nodes_ ABSL_GUARDED_BY(mu_);  // By uid.
  // By the owner's uid.
  std::map<std::string, std::set<std::string>> dependents_ ABSL_GUARDED_BY(mu_);
  Controller controller_;
};

}  // namespace sandbox

#endif  // SANDBOX_SIM_GARBAGE_COLLECTOR_H_
