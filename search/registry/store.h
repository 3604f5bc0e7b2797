// Where ResourceRegistries are stored: one interface for etcd (the default, with the keys and
// values of upstream's karmada-search) and for custom resources of the control plane.
//
//   ASSIGN_OR_RETURN(const auto store, NewEtcdStore(options, clock));
//   ASSIGN_OR_RETURN(const RegistryStore::Listing all, store->List({}, stop));
//   auto watch = store->Watch(all.revision, handler);
//
// Objects are given and returned with apiVersion and kind of search.karmada.io/v1alpha1, and with
// the store's revision of their last change as metadata.resourceVersion. A store does not look into
// them further: what may be written is decided in registry_writes.h.
//
// Errors: kNotFound (there is no such object), kAlreadyExists, kAborted (a guarded write found
// another revision), kOutOfRange (history does not reach back to the wanted revision), kUnavailable
// and kDeadlineExceeded (the storage does not answer; the message names every endpoint that was
// tried), kCancelled (stopped), kInternal (stored bytes that are not an object).
#ifndef SEARCH_REGISTRY_STORE_H_
#define SEARCH_REGISTRY_STORE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/stop_token.h"
#include "kube/meta/object.h"

namespace search {

// A change of one registry. `object` is its state afterwards, or its last state (with the revision
// of the deletion) when it was deleted. A bookmark has no object: everything up to `revision` has
// been delivered.
struct RegistryEvent {
  enum class Type { kPut, kDeleted, kBookmark } type = Type::kPut;
  kube::ObjectPtr object;
  int64_t revision = 0;
};

// Receives the changes of a watch. It is called on the transport's threads, one call at a time, and
// must not block.
class RegistryWatchHandler {
 public:
  virtual ~RegistryWatchHandler() = default;
  virtual void OnEvent(const RegistryEvent& event) = 0;
  // Called once, last. OK: the storage ended the watch, which can be resumed after the last
  // revision. kOutOfRange: that revision has been compacted, so list again. Other errors: the
  // connection broke.
  virtual void OnEnd(absl::Status status) = 0;
};

// A running watch. Destroying it ends it; no call of the handler comes afterwards. REQUIRES: not
// destroyed inside a call of the handler.
class RegistryWatch {
 public:
  virtual ~RegistryWatch() = default;
};

// Thread-safe. Calls block, end early when stopped, and have a deadline of their own.
class RegistryStore {
 public:
  struct ListQuery {
    int64_t limit = 0;     // 0 lists all.
    std::string after;     // Lists names after this one; "" begins with the first.
    int64_t revision = 0;  // The state at this revision; 0: the newest.
  };
  struct Listing {
    std::vector<kube::ObjectPtr> objects;  // Sorted by name.
    int64_t revision = 0;                  // Of the state that the list shows.
    int64_t remaining = 0;                 // How many follow the last one.
    // Names of stored values that cannot be read as an object. They are left out above.
    std::vector<std::string> unreadable;
  };

  virtual ~RegistryStore() = default;
  // Reads the newest state.
  virtual absl::StatusOr<kube::ObjectPtr> Get(absl::string_view name,
                                              const base::StopToken& stop) = 0;
  virtual absl::StatusOr<Listing> List(const ListQuery& query, const base::StopToken& stop) = 0;
  // Returns the object as stored. The resourceVersion of the argument is ignored.
  virtual absl::StatusOr<kube::ObjectPtr> Create(const kube::Object& object,
                                                 const base::StopToken& stop) = 0;
  // Replaces the object if its resourceVersion in the store is still the one of `object`.
  virtual absl::StatusOr<kube::ObjectPtr> Update(const kube::Object& object,
                                                 const base::StopToken& stop) = 0;
  // Removes the object if its resourceVersion in the store is still the one of `object`. Returns
  // the revision of the deletion.
  virtual absl::StatusOr<int64_t> Delete(const kube::Object& object,
                                         const base::StopToken& stop) = 0;
  // Delivers the changes after `revision`. `handler` must outlive the watch.
  virtual std::unique_ptr<RegistryWatch> Watch(int64_t revision, RegistryWatchHandler& handler) = 0;
  // Returns the present revision of the storage: everything that was written before the call has at
  // most this one.
  virtual absl::StatusOr<int64_t> Progress(const base::StopToken& stop) = 0;
  // OK when the storage answers and can serve writes.
  virtual absl::Status Health(const base::StopToken& stop) = 0;
};

}  // namespace search

#endif  // SEARCH_REGISTRY_STORE_H_
