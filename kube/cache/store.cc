#include "kube/cache/store.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/base/macros.h"
#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "absl/synchronization/mutex.h"

namespace kube {
namespace {

// Objects are filed by the namespace and name they carry themselves, so that the table needs no
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

struct Index {
  IndexFn fn;
  absl::flat_hash_map<std::string, ObjectTable> buckets;

  void Add(const ObjectPtr& object) {
    for (std::string& value : fn(*object)) buckets[std::move(value)].insert(object);
  }

  void Erase(const ObjectPtr& object) {
    for (const std::string& value : fn(*object)) {
      auto bucket = buckets.find(value);
      if (bucket == buckets.end()) continue;
      bucket->second.erase(KeyView(object));
      if (bucket->second.empty()) buckets.erase(bucket);
    }
  }
};

// A known deletion. Which of the two applies depends on what is known: a watch says at which
// version the object left (with a label selector it may come back later under its uid); the answer
// to our own DELETE says only that this uid has ended.
struct Tombstone {
  int64_t version = -1;
  std::string dead_uid;

  bool Covers(const Object& object) const {
    if (!dead_uid.empty() && object.uid() == dead_uid) return true;
    const int64_t version_of_object = ResourceVersionOf(object);
    return version_of_object >= 0 && version_of_object <= version;
  }

  void Merge(Tombstone other) {
    version = std::max(version, other.version);
    if (!other.dead_uid.empty()) dead_uid = std::move(other.dead_uid);
  }
};

using TombstoneTable = absl::flat_hash_map<ObjectKey, Tombstone>;

bool IsNewer(const Object& object, const Object& held) {
  const int64_t version = ResourceVersionOf(object);
  return version < 0 || version > ResourceVersionOf(held);
}

std::vector<ObjectPtr> Contents(const ObjectTable& table) {
  return std::vector<ObjectPtr>(table.begin(), table.end());
}

}  // namespace

struct Store::Impl {
  mutable absl::Mutex mu;
  ObjectTable objects ABSL_GUARDED_BY(mu);
  absl::flat_hash_map<std::string, Index> indexes ABSL_GUARDED_BY(mu);
  // Two generations: AgeTombstones drops the older one.
  TombstoneTable recent_deletions ABSL_GUARDED_BY(mu);
  TombstoneTable older_deletions ABSL_GUARDED_BY(mu);

  bool IsDeletedSince(const ObjectKey& key, const Object& object) const
      ABSL_SHARED_LOCKS_REQUIRED(mu) {
    for (const TombstoneTable* table : {&recent_deletions, &older_deletions}) {
      const auto it = table->find(key);
      if (it != table->end() && it->second.Covers(object)) return true;
    }
    return false;
  }

  bool HasDeletions() const ABSL_SHARED_LOCKS_REQUIRED(mu) {
    return !recent_deletions.empty() || !older_deletions.empty();
  }

  void Erase(ObjectTable::iterator it) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    for (auto& [name, index] : indexes) index.Erase(*it);
    objects.erase(it);
  }

  void Insert(ObjectPtr object) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    for (auto& [name, index] : indexes) index.Add(object);
    objects.insert(std::move(object));
  }
};

Store::Store() : impl_(std::make_unique<Impl>()) {}
Store::~Store() = default;

ObjectPtr Store::Find(const ObjectKey& key) const {
  absl::ReaderMutexLock lock(&impl_->mu);
  const auto it = impl_->objects.find(KeyView(key));
  return it == impl_->objects.end() ? nullptr : *it;
}

std::vector<ObjectPtr> Store::List() const {
  absl::ReaderMutexLock lock(&impl_->mu);
  return Contents(impl_->objects);
}

std::vector<ObjectPtr> Store::List(absl::string_view ns, const LabelSelector& selector) const {
  std::vector<ObjectPtr> found;
  absl::ReaderMutexLock lock(&impl_->mu);
  for (const ObjectPtr& object : impl_->objects) {
    if (!ns.empty() && object->ns() != ns) continue;
    if (selector.Matches(object->labels())) found.push_back(object);
  }
  return found;
}

std::vector<ObjectPtr> Store::ByIndex(absl::string_view index, absl::string_view value) const {
  absl::ReaderMutexLock lock(&impl_->mu);
  const auto it = impl_->indexes.find(index);
  ABSL_HARDENING_ASSERT(it != impl_->indexes.end() && "no such index");
  const auto bucket = it->second.buckets.find(value);
  if (bucket == it->second.buckets.end()) return {};
  return Contents(bucket->second);
}

size_t Store::size() const {
  absl::ReaderMutexLock lock(&impl_->mu);
  return impl_->objects.size();
}

void Store::AddIndex(const std::string& name, IndexFn fn) {
  absl::MutexLock lock(&impl_->mu);
  const auto [it, added] = impl_->indexes.try_emplace(name);
  if (!added) return;
  it->second.fn = std::move(fn);
  for (const ObjectPtr& object : impl_->objects) it->second.Add(object);
}

bool Store::Put(ObjectPtr object, ObjectPtr* previous) {
  ObjectPtr held;  // Outlives the lock: the last reference frees a whole object.
  absl::MutexLock lock(&impl_->mu);
  const auto it = impl_->objects.find(KeyView(object));
  if (it != impl_->objects.end()) held = *it;
  if (held != nullptr && !IsNewer(*object, *held)) return false;
  if (impl_->HasDeletions() && impl_->IsDeletedSince(object->key(), *object)) return false;
  if (held != nullptr) impl_->Erase(it);
  if (previous != nullptr) *previous = held;
  impl_->Insert(std::move(object));
  return true;
}

ObjectPtr Store::Remove(const ObjectKey& key, const Object* deleted) {
  absl::MutexLock lock(&impl_->mu);
  const auto it = impl_->objects.find(KeyView(key));
  const ObjectPtr held = it == impl_->objects.end() ? nullptr : *it;
  if (deleted == nullptr && held == nullptr) return nullptr;

  Tombstone tombstone;
  tombstone.version = ResourceVersionOf(deleted != nullptr ? *deleted : *held);
  if (deleted == nullptr) tombstone.dead_uid = std::string(held->uid());
  const int64_t deleted_at = tombstone.version;
  impl_->recent_deletions[key].Merge(std::move(tombstone));

  if (held == nullptr) return nullptr;
  if (deleted_at >= 0 && ResourceVersionOf(*held) > deleted_at) return nullptr;
  impl_->Erase(it);
  return held;
}

void Store::AgeTombstones() {
  TombstoneTable expired;
  absl::MutexLock lock(&impl_->mu);
  expired = std::exchange(impl_->older_deletions, std::move(impl_->recent_deletions));
  impl_->recent_deletions = TombstoneTable();
}

}  // namespace kube
