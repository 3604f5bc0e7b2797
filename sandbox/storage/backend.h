// One simulated API server seen from inside: what its HTTP front end, its built-in controllers and
// tests call. Semantics are those of a kube-apiserver (optimistic concurrency, generation and
// status rules, finalizers, graceful validation errors), whoever calls.
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

namespace sandbox {

struct Verbs {
  static constexpr char kCreate[] = "CREATE";
  static constexpr char kUpdate[] = "UPDATE";
  static constexpr char kDelete[] = "DELETE";
};

// An admission step: may change the object or refuse the request.
struct AdmissionRequest {
  std::string verb;  // Verbs.
  kube::Resource resource;
  std::string subresource;  // "", "status", "scale".
  std::string user;
  bool dry_run = false;
  kube::Object old_object;  // Empty on create.
};
// `object` is the new state (on delete: the object to be deleted, changes are ignored).
using AdmissionHook =
    std::function<absl::Status(const AdmissionRequest& request, kube::Object& object)>;

struct PatchRequest {
  enum class Type { kJson, kMerge, kStrategic, kApply } type = Type::kMerge;
  json::Value patch;
  std::string subresource;
  bool dry_run = false;
  std::string field_manager;
  bool force = false;
};

struct DeleteRequest {
  std::string propagation;            // "Background" (default), "Foreground", "Orphan".
  std::string uid, resource_version;  // Preconditions when not empty.
  bool dry_run = false;
};

struct Event {
  enum class Type { kAdded, kModified, kDeleted, kBookmark } type = Type::kAdded;
  kube::ObjectPtr object;
  kube::ObjectPtr previous;  // State before, for selector transitions; null for kAdded.
};

// Thread-safe. Resources are addressed as the API serves them; unknown ones give 404.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual absl::StatusOr<kube::ObjectPtr> Get(const kube::Gvr& r, const kube::ObjectKey& key) = 0;
  // `ns` empty: all namespaces.
  virtual absl::StatusOr<std::vector<kube::ObjectPtr>> List(
      const kube::Gvr& r, absl::string_view ns, const kube::LabelSelector& selector) = 0;
  virtual absl::StatusOr<kube::ObjectPtr> Create(const kube::Gvr& r, kube::Object object,
                                                 bool dry_run = false) = 0;
  // PUT; `subresource` is "" or "status".
  virtual absl::StatusOr<kube::ObjectPtr> Update(const kube::Gvr& r, kube::Object object,
                                                 absl::string_view subresource = "",
                                                 bool dry_run = false) = 0;
  virtual absl::StatusOr<kube::ObjectPtr> Patch(const kube::Gvr& r, const kube::ObjectKey& key,
                                                const PatchRequest& request) = 0;
  // The object when it only got a deletionTimestamp, null when it is gone.
  virtual absl::StatusOr<kube::ObjectPtr> Delete(const kube::Gvr& r, const kube::ObjectKey& key,
                                                 const DeleteRequest& request) = 0;

  // Calls `callback` for every change of `r` after the call, in order, holding no lock; existing
  // objects are delivered first as kAdded. Every change of every resource when `r.resource` is
  // empty. Callbacks come from the writer's thread or the hub's and must only note what to do.
  virtual int64_t Subscribe(const kube::Gvr& r, std::function<void(const Event&)> callback) = 0;
  virtual void Unsubscribe(int64_t id) = 0;

  // Runs after defaulting and before validation, in order of registration.
  virtual void AddAdmission(AdmissionHook hook) = 0;

  // What is served now (built-in kinds and CRDs).
  virtual std::vector<kube::Resource> Resources() const = 0;
  // nullopt-like empty kind when unknown.
  virtual kube::Resource Find(const kube::Gvk& gvk) const = 0;
};

}  // namespace sandbox

#endif  // SANDBOX_STORAGE_BACKEND_H_
