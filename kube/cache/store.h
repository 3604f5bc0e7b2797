// The in-memory copy of one resource of one cluster.
//
// Deletions are remembered for a while, so that states older than a known deletion (a late answer
// to a write, a watch event of an object that this process deleted) do not bring an object back.
//
// Thread-safe. Objects never change once stored. For one key, changes are applied in
// resourceVersion order and handlers see them in that order; only a list may take an object back to
// a lower version, when the server itself went back.
#ifndef KUBE_CACHE_STORE_H_
#define KUBE_CACHE_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/byte_budget.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "kube/meta/selector.h"

namespace kube {

// Returns the values under which an index has an object. It must be a pure function, because it is
// called with the store locked.
using IndexFn = std::function<std::vector<std::string>(const Object&)>;

class Store {
 public:
  // The deletions that are remembered are charged to `budget`, which may be null.
  explicit Store(std::shared_ptr<base::ByteBudget> budget = nullptr);
  ~Store();
  Store(const Store&) = delete;

  // Returns nullptr when absent.
  ObjectPtr Find(const ObjectKey& key) const;
  std::vector<ObjectPtr> List() const;
  // An empty `ns` means all namespaces. The cost is proportional to the number of objects in the
  // namespace.
  std::vector<ObjectPtr> List(absl::string_view ns, const LabelSelector& selector) const;
  // Returns the objects under `value` of the index. REQUIRES: the index has been added.
  std::vector<ObjectPtr> ByIndex(absl::string_view index, absl::string_view value) const;
  // Returns the number of these objects. REQUIRES: the index has been added.
  size_t CountByIndex(absl::string_view index, absl::string_view value) const;
  size_t size() const;

  // Adding an index with an existing name does nothing. Existing objects are indexed at once.
  void AddIndex(const std::string& name, IndexFn fn);

  // Stores `object` unless the held one is as new or newer, or the object is known to be deleted
  // since. Returns whether it was stored; `previous` (optional) receives the replaced object. An
  // object without a (numeric) resourceVersion counts as newest.
  bool Put(ObjectPtr object, ObjectPtr* previous);
  // What the store knew when a list was requested.
  struct ListMark {
    int64_t newest = -1;  // The highest resourceVersion.
    uint64_t deletions = 0;
  };
  // Call it before the list is requested.
  ListMark BeginList() const;
  // Returns whether a list shows that the server's history is not the one seen so far.
  // `list_version` is the list's resourceVersion, -1 if it is not a number.
  static bool WentBack(const ListMark& mark, int64_t list_version) {
    return list_version >= 0 && list_version < mark.newest;
  }
  // Stores an object of a list: it replaces what was known when the list was requested, whatever
  // the resourceVersions, but not newer states and deletions that became known since (the last
  // pages of a long list may be of a later version than the list). Returns whether the contents
  // changed; `previous` as in Put.
  bool PutListed(const ObjectPtr& object, const ListMark& mark, int64_t list_version,
                 ObjectPtr* previous);
  // Call it after the last object of a list.
  void EndList(const ListMark& mark, int64_t list_version);

  // Removes the object. `deleted` is its last known state, with the resourceVersion of the
  // deletion; when the held object is newer (a successor of the same name) nothing is removed. Null
  // means that the held object was deleted for good: no state of it is accepted again. Returns the
  // removed object.
  ObjectPtr Remove(const ObjectKey& key, const Object* deleted);

  // Forgets all objects, as if they had never been stored: no deletion is remembered.
  void Clear();

  // Forgets the deletions that were remembered before the previous call. Call it at intervals
  // longer than any write takes to be answered, and not while a list is under way. Deletions of
  // very many objects make the store forget by itself.
  void AgeDeletions();
  // Returns whether all deletions are remembered that became known since a list was requested.
  bool RemembersDeletionsSince(const ListMark& mark) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kube

#endif  // KUBE_CACHE_STORE_H_
