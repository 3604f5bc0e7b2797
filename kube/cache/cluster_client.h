// Reads and writes one cluster the way controllers should: reads come from informers, writes are
// minimal patches of what the writer changed, a write that changes nothing is not sent, and every
// result is readable from the cache at once.
//
//   ObjectPtr before = client.Find(kWork, key);
//   Object after = *before;
//   after.AddFinalizer(...);
//   ASSIGN_OR_RETURN(ObjectPtr now, client.Update(before, after, {}, stop));
#ifndef KUBE_CACHE_CLUSTER_CLIENT_H_
#define KUBE_CACHE_CLUSTER_CLIENT_H_

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/stop_token.h"
#include "kube/cache/informer.h"
#include "kube/client/client.h"
#include "kube/discovery/rest_mapper.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "kube/meta/selector.h"

namespace kube {

struct UpdateOptions {
  // "" for the object itself without its status; "status" for its status alone; any other one
  // ("scale", "approval") for what GetSubresource returned.
  std::string subresource;
  // Set it, with "status", for a kind without that subresource: the status is then patched on the
  // object itself. (The server counts that as a change of the object: metadata.generation rises.)
  bool status_on_object = false;
  // Says when the server must refuse the patch if the object changed since `before` (kAborted).
  // kWhenListsChange: only if the patch sets, changes or removes a list (merge patches carry whole
  // lists, so another writer's items would be lost).
  enum class Precondition {
    kWhenListsChange,
    kAlways,
    kNever
  } precondition = Precondition::kWhenListsChange;
};

struct ApplyOptions {
  std::string field_manager;
  bool force = false;  // Fields of other managers are taken from them.
};

// Thread-safe. Errors are those of Client; a write that failed leaves the cache as it was.
class ClusterClient {
 public:
  // REQUIRES: all arguments outlive this object.
  ClusterClient(Client& client, RestMapper& mapper, InformerSet& informers);

  Client& raw() { return client_; }
  RestMapper& mapper() { return mapper_; }
  InformerSet& informers() { return informers_; }

  // For a process that may update the resource's `subresource` ("" for the object without its
  // status) and not patch it: from now on Update sends the whole object, as the cache has it with
  // the change, on the condition that nobody has changed it since. Where a patch would not have had
  // that condition, the change is made to the present object after a conflict. REQUIRES: the cache
  // holds whole objects of the resource; called before the first write.
  void ReplaceInsteadOfPatching(const Resource& r, const std::string& subresource);

  // Find, List and ByIndex read from the cache and start no informer: a kind without an informer
  // looks empty. In a reconcile the kind has to be declared (ControllerBuilder::Reads), see
  // ReadScope. Find returns nullptr when the object is not there.
  ObjectPtr Find(const Resource& r, const ObjectKey& key);
  // Returns the objects of a namespace ("": of all namespaces) that the selector selects.
  std::vector<ObjectPtr> List(const Resource& r, absl::string_view ns = "",
                              const LabelSelector& selector = {});
  // Returns the objects that the index has under `value`. REQUIRES: the index has been added.
  std::vector<ObjectPtr> ByIndex(const Resource& r, absl::string_view index,
                                 absl::string_view value);
  // Returns the number of these objects without copying them.
  size_t CountByIndex(const Resource& r, absl::string_view index, absl::string_view value);
  // Reads from the cache when there is an informer (this call starts none) and it has synced, else
  // by a live GET; a miss in a cache that does not hold all (Informer::HoldsAll) also asks the
  // server. kNotFound when the object does not exist.
  absl::StatusOr<ObjectPtr> Get(const Resource& r, const ObjectKey& key,
                                const base::StopToken& stop);

  // Reads a sub-resource other than status by a live GET ("scale" returns a Scale). Caches do not
  // hold them.
  absl::StatusOr<ObjectPtr> GetSubresource(const Resource& r, const ObjectKey& key,
                                           const std::string& subresource,
                                           const base::StopToken& stop);

  // Returns the object as the server stored it.
  absl::StatusOr<ObjectPtr> Create(const Resource& r, const Object& object,
                                   const base::StopToken& stop);
  // Sends the merge patch that turns `before` into `after`; returns `before` itself without a call
  // when they do not differ (in status, for subresource "status"; outside it for ""). Fields that
  // only the server writes (uid, generation, ...) are never part of the patch.
  absl::StatusOr<ObjectPtr> Update(const Resource& r, const ObjectPtr& before, const Object& after,
                                   const UpdateOptions& options, const base::StopToken& stop);
  // Applies the configuration (server-side apply) as this field manager, which from then on owns
  // the fields that it has. The server refuses that if the object changed since `before`
  // (kAborted). IsFieldConflict holds for the error when others own fields that would change.
  absl::StatusOr<ObjectPtr> Apply(const Resource& r, const ObjectPtr& before, Object configuration,
                                  const ApplyOptions& options, const base::StopToken& stop);
  // Hands what other managers own of the object over to `to`, see kube::HandOverFields. No other
  // field changes. Returns `before` without a write when they own nothing; kAborted when the object
  // changed since `before`.
  absl::StatusOr<ObjectPtr> HandOverFields(const Resource& r, const ObjectPtr& before,
                                           const std::set<std::string>& from, const std::string& to,
                                           const base::StopToken& stop);
  // Removes a finalizer. OK also when the object does not have it, or is gone.
  absl::Status RemoveFinalizer(const Resource& r, const ObjectPtr& object,
                               absl::string_view finalizer, const base::StopToken& stop);
  // OK also when the object was gone already. An object of the cache that the server does not find
  // is read once more: a server that starts answers 404 for kinds that it does not serve yet.
  absl::Status Delete(const Resource& r, const ObjectKey& key, const DeleteOptions& options,
                      const base::StopToken& stop);

 private:
  // A change of an object, as a merge patch.
  struct Edit {
    const Object& before;
    const json::Value& patch;
    bool guarded;  // Whether the object must not have changed since `before`.
  };
  bool IsReplaced(const Resource& r, const std::string& subresource) const;
  absl::StatusOr<Object> Replace(const Resource& r, const Edit& edit, const WriteOptions& write,
                                 const base::StopToken& stop);
  void Remember(const Resource& r, const Object& written);
  // Returns the informer for a read from the cache, and records the read; nullptr when there is
  // none.
  std::shared_ptr<Informer> InformerToRead(const Resource& r);
  // Returns OK when the object is being deleted, or is gone.
  absl::Status ConfirmGone(const Resource& r, const Object& held, const base::StopToken& stop);
  // Reads the object after a conflict with the cached one: the cache may lag behind, and a retry
  // must not depend on a watch that has died unnoticed.
  void ReadLive(const Resource& r, const Object& held, const base::StopToken& stop);

  Client& client_;
  RestMapper& mapper_;
  InformerSet& informers_;
  std::set<std::pair<Gvr, std::string>> replaced_;  // Kinds with subresources.
};

}  // namespace kube

#endif  // KUBE_CACHE_CLUSTER_CLIENT_H_
