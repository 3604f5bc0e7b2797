// The tables of a Store: objects by key, and by the values of an index.
#ifndef KUBE_CACHE_INTERNAL_OBJECT_INDEX_H_
#define KUBE_CACHE_INTERNAL_OBJECT_INDEX_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "absl/strings/string_view.h"
#include "kube/cache/store.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace kube::internal {

// Tables find objects by the namespace and name in the objects themselves, so that they need no
// copy of either: 16 bytes per object.
struct KeyView {
  absl::string_view ns, name;

  KeyView(const ObjectKey& key) : ns(key.ns), name(key.name) {}                 // NOLINT
  KeyView(const ObjectPtr& object) : ns(object->ns()), name(object->name()) {}  // NOLINT
};

struct KeyHash {
  using is_transparent = void;
  size_t operator()(const KeyView& key) const {
    return absl::Hash<std::pair<absl::string_view, absl::string_view>>()({key.ns, key.name});
  }
};

struct KeyEqual {
  using is_transparent = void;
  bool operator()(const KeyView& a, const KeyView& b) const {
    return a.name == b.name && a.ns == b.ns;
  }
};

using ObjectTable = absl::flat_hash_set<ObjectPtr, KeyHash, KeyEqual>;

// Puts `object` in the place of the one with the same key, or adds it.
inline void PutInto(ObjectTable& table, const ObjectPtr& object) {
  const auto [it, added] = table.insert(object);
  // The key is equal, so the place in the table is right.
  if (!added) const_cast<ObjectPtr&>(*it) = object;
}

// Objects by the values that a function returns for each. Not thread-safe.
class ObjectIndex {
 public:
  explicit ObjectIndex(IndexFn fn) : fn_(std::move(fn)) {}

  void Add(const ObjectPtr& object) { AddUnder(fn_(*object), object); }
  void Erase(const ObjectPtr& object) { EraseUnder(fn_(*object), object); }

  // `after` replaces `before`, which has the same key. Most changes of an object (of its status,
  // for example) leave it in the same buckets.
  void Replace(const ObjectPtr& before, const ObjectPtr& after) {
    const std::vector<std::string> old_values = fn_(*before), values = fn_(*after);
    if (old_values != values) {
      EraseUnder(old_values, before);
      AddUnder(values, after);
      return;
    }
    for (const std::string& value : values) PutInto(buckets_[value], after);
  }

  // Returns nullptr when there are none.
  const ObjectTable* Find(absl::string_view value) const {
    const auto bucket = buckets_.find(value);
    return bucket == buckets_.end() ? nullptr : &bucket->second;
  }

 private:
  void AddUnder(const std::vector<std::string>& values, const ObjectPtr& object) {
    for (const std::string& value : values) buckets_[value].insert(object);
  }
  void EraseUnder(const std::vector<std::string>& values, const ObjectPtr& object) {
    for (const std::string& value : values) {
      const auto bucket = buckets_.find(value);
      if (bucket == buckets_.end()) continue;
      bucket->second.erase(KeyView(object));
      if (bucket->second.empty()) buckets_.erase(bucket);
    }
  }

  IndexFn fn_;
  absl::flat_hash_map<std::string, ObjectTable> buckets_;
};

// Objects by namespace. Not thread-safe.
class NamespaceIndex {
 public:
  void Put(const ObjectPtr& object) {
    const absl::string_view ns = object->ns();
    auto bucket = buckets_.find(ns);
    if (bucket == buckets_.end()) bucket = buckets_.try_emplace(std::string(ns)).first;
    PutInto(bucket->second, object);
  }

  void Erase(const ObjectPtr& object) {
    const auto bucket = buckets_.find(object->ns());
    if (bucket == buckets_.end()) return;
    bucket->second.erase(KeyView(object));
    if (bucket->second.empty()) buckets_.erase(bucket);
  }

  // Returns nullptr when there are none.
  const ObjectTable* Find(absl::string_view ns) const {
    const auto bucket = buckets_.find(ns);
    return bucket == buckets_.end() ? nullptr : &bucket->second;
  }

 private:
  absl::flat_hash_map<std::string, ObjectTable> buckets_;
};

}  // namespace kube::internal

#endif  // KUBE_CACHE_INTERNAL_OBJECT_INDEX_H_
