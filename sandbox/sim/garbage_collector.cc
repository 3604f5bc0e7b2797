// OnEvent, on any thread and under mu_, keeps a graph of all objects that have owners or wait for
// the collector, and queues what an event may concern: the object, the dependents of one that is
// gone, and the owners of one that has changed or gone. Reconcile, on the loop's thread, reads the
// object again and does one of three things. One that is not deleted loses the references to owners
// that are gone or are deleted with their dependents, or is deleted when no other owner is left. A
// deleted one with the finalizer "orphan" has the references to it removed, and then the finalizer.
// A deleted one with "foregroundDeletion" has its dependents queued, and loses the finalizer when
// none that blocks its deletion is left.
//
// An owner is gone when its deletion was seen, or no object of its name has its uid. Every write
// carries what was read, and one that fails is repeated by the controller.

#include "sandbox/sim/garbage_collector.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/status.h"
#include "sandbox/sim/writes.h"

namespace sandbox {
namespace {

constexpr char kOrphan[] = "orphan";
constexpr char kForeground[] = "foregroundDeletion";

bool WaitsForCollector(const kube::Object& object) {
  return object.IsDeleting() && (object.HasFinalizer(kOrphan) || object.HasFinalizer(kForeground));
}

absl::Status DropFinalizer(Backend& backend, const kube::Resource& resource,
                           const kube::Object& object, absl::string_view finalizer) {
  kube::Object changed = object;
  changed.RemoveFinalizer(finalizer);
  json::Value patch;
  patch.Set({"metadata", "finalizers"}, changed.metadata()["finalizers"]);
  return PatchAsRead(backend, resource.gvr(), object, std::move(patch));
}

std::string PolicyFor(const kube::Object& object, bool foreground) {
  if (foreground || object.HasFinalizer(kForeground)) return "Foreground";
  return object.HasFinalizer(kOrphan) ? "Orphan" : "Background";
}

bool SameOwners(const std::vector<kube::OwnerRef>& a, const std::vector<kube::OwnerRef>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.uid == y.uid && x.block_owner_deletion == y.block_owner_deletion;
  });
}

}  // namespace

GarbageCollector::GarbageCollector(Backend& backend, EventLoop& loop)
    : backend_(backend),
      controller_("garbagecollector", backend, loop,
                  [this](const kube::ObjectKey& key) { return Reconcile(key.name); }) {
  controller_.Watch(kube::Gvr{}, [this](const Event& event) { OnEvent(event); });
}

void GarbageCollector::OnEvent(const Event& event) {
  const std::string uid(event.object->uid());
  absl::MutexLock lock(&mu_);
  if (event.type != Event::Type::kDeleted) {
    Learn(uid, *event.object);
    return;
  }
  Unlearn(uid);
  const auto dependents = dependents_.find(uid);
  if (dependents == dependents_.end()) return;
  for (const std::string& dependent : dependents->second) {
    // Remembered, because the kind of the owner may have been deleted with it; then nothing else
    // tells that it is gone (StateOf).
    nodes_[dependent].gone_owners.insert(uid);
    EnqueueUid(dependent);
  }
}

void GarbageCollector::Learn(const std::string& uid, const kube::Object& object) {
  std::vector<kube::OwnerRef> owners = object.OwnerRefs();
  const bool waits = WaitsForCollector(object);
  const auto known = nodes_.find(uid);
  if (owners.empty() && !waits) {
    if (known != nodes_.end()) Unlearn(uid);
    return;
  }
  // Most updates change neither: they cost one comparison, and no pass.
  if (known != nodes_.end() && SameOwners(known->second.owners, owners)) {
    if (waits) EnqueueUid(uid);
    return;
  }
  std::set<std::string> gone;
  if (known != nodes_.end()) {
    // What was seen to be deleted stays deleted, also when the owners are written again.
    gone = known->second.gone_owners;
    Unlearn(uid);
  }
  for (const kube::OwnerRef& owner : owners) dependents_[owner.uid].insert(uid);
  nodes_[uid] = {object.gvk(), object.key(), std::move(owners), std::move(gone)};
  EnqueueUid(uid);
}

void GarbageCollector::Unlearn(const std::string& uid) {
  const auto node = nodes_.find(uid);
  if (node == nodes_.end()) return;
  for (const kube::OwnerRef& owner : node->second.owners) {
    const auto siblings = dependents_.find(owner.uid);
    if (siblings == dependents_.end()) continue;
    siblings->second.erase(uid);
    if (siblings->second.empty()) dependents_.erase(siblings);
    EnqueueUid(owner.uid);  // The owner may have waited for this one.
  }
  nodes_.erase(node);
}

std::map<std::string, GarbageCollector::Node> GarbageCollector::DependentsOf(
    const std::string& uid) {
  absl::MutexLock lock(&mu_);
  std::map<std::string, Node> out;
  const auto dependents = dependents_.find(uid);
  if (dependents == dependents_.end()) return out;
  for (const std::string& dependent : dependents->second) out[dependent] = nodes_[dependent];
  return out;
}

absl::Status GarbageCollector::Reconcile(const std::string& uid) {
  std::optional<Node> node;
  {
    absl::MutexLock lock(&mu_);
    const auto known = nodes_.find(uid);
    if (known != nodes_.end()) node = known->second;
  }
  if (!node.has_value()) return absl::OkStatus();
  const kube::Resource resource = backend_.Find(node->gvk);
  if (resource.gvk.empty()) return absl::OkStatus();  // With its definition the object has gone.
  ASSIGN_OR_RETURN(const kube::ObjectPtr object, FindObject(backend_, resource.gvr(), node->key));
  // The graph may be behind the store: what is written below follows from the object as it is now.
  if (object == nullptr || object->uid() != uid) return absl::OkStatus();
  if (!object->IsDeleting()) return CollectUnowned(uid, *node, resource, *object);
  if (object->HasFinalizer(kOrphan)) return OrphanDependents(uid, resource, *object);
  if (object->HasFinalizer(kForeground)) return DeleteDependentsFirst(uid, resource, *object);
  return absl::OkStatus();
}

absl::Status GarbageCollector::CollectUnowned(const std::string& uid, const Node& node,
                                              const kube::Resource& resource,
                                              const kube::Object& object) {
  std::set<std::string> lost;
  bool solid = false, waiting = false;
  for (const kube::OwnerRef& owner : object.OwnerRefs()) {
    ASSIGN_OR_RETURN(const OwnerState state, StateOf(node, owner));
    solid = solid || state == OwnerState::kSolid;
    waiting = waiting || state == OwnerState::kWaitsForDependents;
    if (state != OwnerState::kSolid) lost.insert(owner.uid);
  }
  if (lost.empty()) return absl::OkStatus();
  // One owner that stays is enough to live on; only the references to the others are removed.
  if (solid) return RemoveOwners(node, lost);
  DeleteRequest request;
  request.propagation = PolicyFor(object, waiting && !DependentsOf(uid).empty());
  request.uid = uid;
  // The precondition makes sure that no owner has adopted it meanwhile.
  request.resource_version = std::string(object.resource_version());
  return UnlessGone(backend_.Delete(resource.gvr(), node.key, request).status());
}

absl::StatusOr<GarbageCollector::OwnerState> GarbageCollector::StateOf(
    const Node& node, const kube::OwnerRef& owner) {
  if (node.gone_owners.count(owner.uid) > 0) return OwnerState::kGone;
  const auto gvk = kube::ParseGvk(owner.api_version, owner.kind);
  if (!gvk.ok()) return OwnerState::kSolid;
  const kube::Resource resource = backend_.Find(*gvk);
  // The state of an unknown kind's object cannot be determined, and a cluster-scoped object cannot
  // have a namespaced owner: both stay, as they do in Kubernetes.
  if (resource.gvk.empty()) return OwnerState::kSolid;
  if (resource.namespaced && node.key.ns.empty()) return OwnerState::kSolid;
  const kube::ObjectKey key{resource.namespaced ? node.key.ns : "", owner.name};
  ASSIGN_OR_RETURN(const kube::ObjectPtr found, FindObject(backend_, resource.gvr(), key));
  if (found == nullptr || found->uid() != owner.uid) return OwnerState::kGone;
  const bool waits = found->IsDeleting() && found->HasFinalizer(kForeground);
  return waits ? OwnerState::kWaitsForDependents : OwnerState::kSolid;
}

absl::Status GarbageCollector::OrphanDependents(const std::string& uid,
                                                const kube::Resource& resource,
                                                const kube::Object& owner) {
  for (const auto& [dependent, node] : DependentsOf(uid)) {
    // A failure leaves the finalizer in place, so that the next pass removes the rest.
    RETURN_IF_ERROR(RemoveOwners(node, {uid}));
  }
  return DropFinalizer(backend_, resource, owner, kOrphan);
}

absl::Status GarbageCollector::DeleteDependentsFirst(const std::string& uid,
                                                     const kube::Resource& resource,
                                                     const kube::Object& owner) {
  bool blocked = false;
  for (const auto& [dependent, node] : DependentsOf(uid)) {
    // Its own pass sees that the owner waits for it, and deletes it.
    EnqueueUid(dependent);
    for (const kube::OwnerRef& ref : node.owners) {
      blocked = blocked || (ref.uid == uid && ref.block_owner_deletion);
    }
  }
  if (blocked) return absl::OkStatus();  // The deletion of the last dependent enqueues it again.
  return DropFinalizer(backend_, resource, owner, kForeground);
}

absl::Status GarbageCollector::RemoveOwners(const Node& node,
                                            const std::set<std::string>& owner_uids) {
  const kube::Resource resource = backend_.Find(node.gvk);
  if (resource.gvk.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const kube::ObjectPtr object, FindObject(backend_, resource.gvr(), node.key));
  if (object == nullptr) return absl::OkStatus();
  json::Value kept = json::Value::Array();
  for (const json::Value& ref : object->metadata()["ownerReferences"].items()) {
    if (owner_uids.count(ref["uid"].ToString()) == 0) kept.Append(ref);
  }
  json::Value patch;
  patch.Set({"metadata", "ownerReferences"}, std::move(kept));
  return PatchAsRead(backend_, resource.gvr(), *object, std::move(patch));
}

}  // namespace sandbox
