// The in-memory copy of one resource of one cluster.
//
// Threads: every method may be called from any thread. Objects never change once stored. For one key,
// changes are applied in resourceVersion order and handlers see them in that order.
#ifndef KUBE_CACHE_STORE_H_
#define KUBE_CACHE_STORE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "kube/meta/selector.h"

namespace kube {

// The keys under which an index files an object.
using IndexFn = std::function<std::vector<std::string>(const Object&)>;

class Store {
 public:
  Store();
  ~Store();
  Store(const Store&) = delete;

  // nullptr when absent.
  ObjectPtr Find(const ObjectKey& key) const;
  std::vector<ObjectPtr> List() const;
  std::vector<ObjectPtr> List(absl::string_view ns, const LabelSelector& selector) const;
  // Objects filed under `value` of the index; the index must have been added.
  std::vector<ObjectPtr> ByIndex(absl::string_view index, absl::string_view value) const;
  size_t size() const;

  // Adding an index that exists (by name) does nothing. Existing objects are filed at once.
  void AddIndex(const std::string& name, IndexFn fn);

  // Stores `object` unless the held copy is as new or newer, or the object is known to be deleted since.
  // `previous` (optional) receives the replaced copy. Whether it was stored.
  bool Put(ObjectPtr object, ObjectPtr* previous);
  // Removes the object. `deleted` (may be null) is the last known state; an older incarnation than the held
  // one (other uid, lower resourceVersion) removes nothing. Returns what was removed.
  ObjectPtr Remove(const ObjectKey& key, const Object* deleted);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kube

#endif  // KUBE_CACHE_STORE_H_
