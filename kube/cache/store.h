// The in-memory copy of one resource of one cluster.
//
// Deletions are remembered for a while, so that news older than a known deletion (a late answer to
// a write, a watch event of an object we deleted ourselves) does not bring an object back.
//
// Threads: every method may be called from any thread. Objects never change once stored. For one
// key, changes are applied in resourceVersion order and handlers see them in that order; only a
// list may take an object back to a lower version, when the server itself went back.
#ifndef KUBE_CACHE_STORE_H_
#define KUBE_CACHE_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"
#include "kube/meta/selector.h"

namespace kube {

// The values under which an index files an object. Must be a pure function: it is called with the
// store locked.
using IndexFn = std::function<std::vector<std::string>(const Object&)>;

class Store {
 public:
  Store();
  ~Store();
  Store(const Store&) = delete;

  // nullptr when absent.
  ObjectPtr Find(const ObjectKey& key) const;
  std::vector<ObjectPtr> List() const;
  // `ns` empty: of all namespaces. Costs as much as the namespace has objects.
  std::vector<ObjectPtr> List(absl::string_view ns, const LabelSelector& selector) const;
  // Objects filed under `value` of the index. REQUIRES: the index has been added.
  std::vector<ObjectPtr> ByIndex(absl::string_view index, absl::string_view value) const;
  // How many those are.
  size_t CountByIndex(absl::string_view index, absl::string_view value) const;
  size_t size() const;

  // Adding an index that exists (by name) does nothing. Existing objects are filed at once.
  void AddIndex(const std::string& name, IndexFn fn);

  // Stores `object` unless the held copy is as new or newer, or the object is known to be deleted
  // since. `previous` (optional) receives the replaced copy. Whether it was stored. An object
  // without a (numeric) resourceVersion counts as newest.
  bool Put(ObjectPtr object, ObjectPtr* previous);
  // What the store knew when a list was asked for.
  struct ListMark {
    int64_t newest = -1;  // The highest resourceVersion.
    uint64_t deletions = 0;
  };
  // Call it before the list is asked for.
  ListMark BeginList() const;
  // Returns whether a list shows that the server's history is not the one seen so far.
  // `list_version`: the list's resourceVersion, -1 if it is not a number.
  static bool WentBack(const ListMark& mark, int64_t list_version) {
    return list_version >= 0 && list_version < mark.newest;
  }
  // Stores an object of a list: it replaces what was known when the list was asked for, whatever
  // the resourceVersions, and gives way to newer states and deletions learned since. Whether the
  // contents changed; `previous` as with Put.
  bool PutListed(const ObjectPtr& object, const ListMark& mark, int64_t list_version,
                 ObjectPtr* previous);
  // Is called after the last object of a list.
  void EndList(const ListMark& mark, int64_t list_version);

  // Removes the object. `deleted` is the last known state, its resourceVersion that of the
  // deletion; when the held copy is newer than that (a new incarnation) nothing is removed. Null
  // means that the held object was deleted for good: no state of it is accepted again. Returns what
  // was removed.
  ObjectPtr Remove(const ObjectKey& key, const Object* deleted);

  // Forgets the deletions remembered before the last call of this. Call it at intervals longer than
  // any write takes to be answered.
  void AgeTombstones();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kube

#endif  // KUBE_CACHE_STORE_H_
