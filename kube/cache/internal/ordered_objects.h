// Objects in the order of their keys.
#ifndef KUBE_CACHE_INTERNAL_ORDERED_OBJECTS_H_
#define KUBE_CACHE_INTERNAL_ORDERED_OBJECTS_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "kube/cache/internal/object_index.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace kube::internal {

// Compares as the texts "namespace/name" compare, byte by byte, which is the order of the keys in
// etcd: namespace "a-b" precedes "a", because '-' precedes '/'. Negative, 0 or positive.
int CompareKeys(const KeyView& a, const KeyView& b);

struct KeyLess {
  using is_transparent = void;
  bool operator()(const KeyView& a, const KeyView& b) const { return CompareKeys(a, b) < 0; }
};

// 16 bytes per object, as in a hash table, and the objects of a namespace lie together. Not
// thread-safe.
class OrderedObjects {
 public:
  using Objects = std::vector<ObjectPtr>;
  // Objects of one namespace ("": of all), from a place on (an empty one: from the beginning), at
  // most so many (0: all).
  struct Selection {
    std::string ns;
    ObjectKey from;
    size_t limit = 0;
  };
  struct Page {
    Objects objects;
    size_t remaining = 0;  // How many objects of the namespace follow.
  };
  // What objects were before, by key; null for those that did not exist. The keys are views of
  // objects that the caller holds.
  using Former = absl::btree_map<KeyView, ObjectPtr, KeyLess>;

  void Put(const ObjectPtr& object);
  void Erase(const KeyView& key);
  // Returns nullptr when absent.
  ObjectPtr Find(const KeyView& key) const;
  size_t size() const { return objects_.size(); }
  size_t size(absl::string_view ns) const;  // "": of all namespaces.
  Objects All() const { return Objects(objects_.begin(), objects_.end()); }
  Page Read(const Selection& selection) const;
  // Reads as if the objects in `former` were still what they were. Entries before the selection are
  // not needed. Takes as long as the page and `former` are, whatever follows the page.
  Page ReadFormer(const Selection& selection, const Former& former) const;

 private:
  using Set = absl::btree_set<ObjectPtr, KeyLess>;
  Set::const_iterator Begin(const Selection& selection) const;

  Set objects_;
  absl::flat_hash_map<std::string, size_t> sizes_;  // By namespace.
};

}  // namespace kube::internal

#endif  // KUBE_CACHE_INTERNAL_ORDERED_OBJECTS_H_
