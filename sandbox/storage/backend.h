// One simulated API server from inside: the interface for its HTTP front end, its built-in
// controllers and tests. It has the semantics of a kube-apiserver (optimistic concurrency,
// generation and status rules, finalizers, graceful validation errors), whoever calls.
#ifndef SANDBOX_STORAGE_BACKEND_H_
#define SANDBOX_STORAGE_BACKEND_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/json.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "kube/meta/selector.h"
#include "kube/server/write_request.h"

namespace sandbox {

struct Verbs {
  static constexpr char kCreate[] = "CREATE";
  static constexpr char kUpdate[] = "UPDATE";
  static constexpr char kDelete[] = "DELETE";
};

// The request that an admission step sees.
struct AdmissionRequest {
  std::string verb;  // One of Verbs.
  kube::Resource resource;
  std::string subresource;  // "", "status" or "scale".
  std::string user;
  bool dry_run = false;
  kube::Object old_object;  // Empty on create.
};
// An admission step, which may change the object or refuse the request. `object` is the new state
// (on delete: the object to be deleted, and changes are ignored).
using AdmissionHook =
    std::function<absl::Status(const AdmissionRequest& request, kube::Object& object)>;

using kube::server::DeleteRequest;
using kube::server::PatchRequest;

struct Event {
  enum class Type { kAdded, kModified, kDeleted, kBookmark } type = Type::kAdded;
  kube::ObjectPtr object;
  kube::ObjectPtr previous;  // The state before, for selector transitions; null for kAdded.
};

// Thread-safe. Resources are addressed as the API serves them; unknown ones cause a 404.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual absl::StatusOr<kube::ObjectPtr> Get(const kube::Gvr& r, const kube::ObjectKey& key) = 0;
  // An empty `ns` stands for all namespaces.
  virtual absl::StatusOr<std::vector<kube::ObjectPtr>> List(
      const kube::Gvr& r, absl::string_view ns, const kube::LabelSelector& selector) = 0;
  virtual absl::StatusOr<kube::ObjectPtr> Create(const kube::Gvr& r, kube::Object object,
                                                 bool dry_run = false) = 0;
  // A PUT; `subresource` is "" or "status".
  virtual absl::StatusOr<kube::ObjectPtr> Update(const kube::Gvr& r, kube::Object object,
                                                 absl::string_view subresource = "",
                                                 bool dry_run = false) = 0;
  virtual absl::StatusOr<kube::ObjectPtr> Patch(const kube::Gvr& r, const kube::ObjectKey& key,
                                                const PatchRequest& request) = 0;
  // Returns the object when it only got a deletionTimestamp, null when it is gone.
  virtual absl::StatusOr<kube::ObjectPtr> Delete(const kube::Gvr& r, const kube::ObjectKey& key,
                                                 const DeleteRequest& request) = 0;

  // Calls `callback` for every later change of `r`, in order, without holding a lock; existing
  // objects are delivered first as kAdded. An empty `r.resource` stands for all resources.
  // Callbacks are called on the writer's thread or the hub's and must only record what to do.
  // Returns the id for Unsubscribe.
  virtual int64_t Subscribe(const kube::Gvr& r, std::function<void(const Event&)> callback) = 0;
  virtual void Unsubscribe(int64_t id) = 0;

  // The hooks run after defaulting and before validation, in the order of registration.
  virtual void AddAdmission(AdmissionHook hook) = 0;

  // Returns what is served now (built-in kinds and CRDs).
  virtual std::vector<kube::Resource> Resources() const = 0;
  // Returns a Resource with an empty kind when it is unknown.
  virtual kube::Resource Find(const kube::Gvk& gvk) const = 0;
};

}  // namespace sandbox

#endif  // SANDBOX_STORAGE_BACKEND_H_
