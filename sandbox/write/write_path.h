// Executes every change of an object: decoding, defaulting, admission, validation, the rules of
// subresources, and the optimistic commit to the store.
#ifndef SANDBOX_WRITE_WRITE_PATH_H_
#define SANDBOX_WRITE_WRITE_PATH_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "sandbox/kinds/registry.h"
#include "sandbox/storage/backend.h"
#include "sandbox/storage/store.h"
#include "sandbox/write/kind_fields.h"
#include "sandbox/write/service_addresses.h"

namespace sandbox {

using kube::server::FieldValidation;

struct WriteContext {
  bool dry_run = false;
  std::string user;
  // Who owns the fields that are written, and the subresource that this is noted for; empty: the
  // one of the request.
  std::string manager;
  std::string owned_subresource;
  // True if managedFields of the object were determined by a server-side apply. Otherwise the
  // manager owns what the write changes.
  bool applied = false;
  FieldValidation validation = FieldValidation::kIgnore;
  // If not null, gets the texts for Warning headers.
  std::vector<std::string>* warnings = nullptr;
  // If not null, gets the resourceVersions of what was stored or removed.
  std::vector<int64_t>* stored = nullptr;
};

// Thread-safe.
class WritePath {
 public:
  // Called after an object was stored or removed, before the writer gets its answer.
  using CommitHook = std::function<void(const GroupName& table, const kube::ObjectKey& key)>;

  // REQUIRES: the arguments outlive this object.
  WritePath(Store& store, ServiceAddresses& addresses, const KindFields& owners)
      : store_(store), addresses_(addresses), owners_(owners) {}
  void SetCommitHook(CommitHook hook) { commit_hook_ = std::move(hook); }
  void AddAdmission(AdmissionHook hook);

  absl::StatusOr<kube::ObjectPtr> Create(const ResourceInfo& info, kube::Object object,
                                         const WriteContext& context);

  struct Target {
    kube::ObjectKey key;
    std::string subresource;  // "", "status", or "finalize" (for namespaces).
  };
  // Makes the wanted state from the current one (as served); called again after a lost race.
  using Change = std::function<absl::StatusOr<kube::Object>(const kube::Object& current)>;
  // Returns the stored object; if this removed the last finalizer, the object's last state.
  absl::StatusOr<kube::ObjectPtr> Update(const ResourceInfo& info, const Target& target,
                                         const Change& change, const WriteContext& context);

  // Returns the object when it waits for finalizers, null when it is gone.
  absl::StatusOr<kube::ObjectPtr> Delete(const ResourceInfo& info, const kube::ObjectKey& key,
                                         const DeleteRequest& request, const WriteContext& context);

 private:
  absl::Status Decode(const ResourceInfo& info, kube::Object& object, const WriteContext& context);
  // Returns managedFields of `wanted`; `given` is what its writer sent as such.
  json::Value OwnersOf(const ResourceInfo& info, const Target& target, const kube::Object& current,
                       const json::Value& given, const WriteContext& context,
                       const kube::Object& wanted) const;
  absl::Status Admit(const AdmissionRequest& request, kube::Object& object);
  absl::Status CheckNamespace(const ResourceInfo& info, const kube::Object& object) const;
  // Gives a Service its addresses and ports, and reports those that another one has.
  void FillAddresses(const ResourceInfo& info, const kube::Object& current, kube::Object& wanted,
                     FieldErrors& errors);
  absl::StatusOr<kube::ObjectPtr> Insert(const ResourceInfo& info, kube::Object object,
                                         const WriteContext& context);
  absl::StatusOr<kube::Object> Prepare(const ResourceInfo& info, const Target& target,
                                       const kube::Object& current, kube::Object wanted,
                                       const WriteContext& context);
  // Returns nullptr when a race was lost.
  kube::ObjectPtr Commit(const ResourceInfo& info, const kube::ObjectPtr& current,
                         kube::Object object);
  absl::Status CheckDeletable(const ResourceInfo& info, const kube::Object& current,
                              const DeleteRequest& request) const;
  void Committed(const ResourceInfo& info, const kube::Object& stored, const WriteContext& context);

  Store& store_;
  ServiceAddresses& addresses_;
  const KindFields& owners_;
  CommitHook commit_hook_;
  absl::Mutex mu_;
  std::vector<AdmissionHook> admission_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sandbox

#endif  // SANDBOX_WRITE_WRITE_PATH_H_
