// How the store decides between two states of an object. Within one history of the server, the
// higher resourceVersion is newer, and a deletion covers every state up to its own version; by this
// rule events of a watch, answers to our own writes and deletions are put in order, whichever comes
// first.
//
// A list is stronger. It shows everything up to its own version, so objects that were held when it
// was requested and are not newer than the list have to be in it, and it cannot contradict a
// deletion that was known by then. If it does, the server has another history (its etcd was
// restored from a backup), and the list is right. Only changes that became known while it was under
// way may be newer than the list.

#include "kube/cache/store.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/base/macros.h"
#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "kube/cache/internal/object_index.h"

namespace kube {
namespace {

using internal::KeyView;
using internal::NamespaceIndex;
using internal::ObjectIndex;
using internal::ObjectTable;

// A known deletion. A watch reports at which version the object left (with a label selector it may
// return later with the same uid); the answer to our own DELETE shows only that this uid has ended.
struct Tombstone {
  int64_t version = -1;
  std::string dead_uid;
  // The number of this deletion, in the order in which the store learned of them.
  uint64_t number = 0;

  bool Covers(const Object& object) const {
    if (!dead_uid.empty() && object.uid() == dead_uid) return true;
    const int64_t version_of_object = ResourceVersionOf(object);
    return version_of_object >= 0 && version_of_object <= version;
  }

  void Merge(Tombstone other) {
    version = std::max(version, other.version);
    number = other.number;
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
  absl::flat_hash_map<std::string, ObjectIndex> indexes ABSL_GUARDED_BY(mu);
  // Built when a namespace is listed for the first time.
  std::optional<NamespaceIndex> namespaces ABSL_GUARDED_BY(mu);
  // Two generations of known deletions: AgeTombstones drops the older one.
  TombstoneTable recent_deletions ABSL_GUARDED_BY(mu);
  TombstoneTable older_deletions ABSL_GUARDED_BY(mu);
  uint64_t deletions ABSL_GUARDED_BY(mu) = 0;  // How many deletions the store has learned of.
  int64_t newest ABSL_GUARDED_BY(mu) = -1;     // The highest resourceVersion so far.

  // Returns whether a deletion later than the first `known` ones covers the object.
  bool IsDeletedSince(const Object& object, uint64_t known) const ABSL_SHARED_LOCKS_REQUIRED(mu) {
    if (recent_deletions.empty() && older_deletions.empty()) return false;
    const ObjectKey key = object.key();
    for (const TombstoneTable* table : {&recent_deletions, &older_deletions}) {
      const auto it = table->find(key);
      if (it == table->end() || it->second.number <= known) continue;
      if (it->second.Covers(object)) return true;
    }
    return false;
  }

  // Returns nullptr when absent.
  ObjectPtr Held(const KeyView& key) const ABSL_SHARED_LOCKS_REQUIRED(mu) {
    const auto it = objects.find(key);
    return it == objects.end() ? nullptr : *it;
  }

  void Erase(const ObjectPtr& held) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    for (auto& [name, index] : indexes) index.Erase(held);
    if (namespaces.has_value()) namespaces->Erase(held);
    objects.erase(KeyView(held));
  }

  // Stores `object` in the place of `held`, which is nullptr when there is none.
  void Set(const ObjectPtr& object, const ObjectPtr& held) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    newest = std::max(newest, ResourceVersionOf(*object));
    for (auto& [name, index] : indexes) {
      if (held == nullptr) {
        index.Add(object);
      } else {
        index.Replace(held, object);
      }
    }
    if (namespaces.has_value()) namespaces->Put(object);
    internal::PutInto(objects, object);
  }

  // Returns whether the index of namespaces had to be built.
  bool IndexNamespaces() ABSL_LOCKS_EXCLUDED(mu) {
    absl::MutexLock lock(&mu);
    if (namespaces.has_value()) return false;
    namespaces.emplace();
    for (const ObjectPtr& object : objects) namespaces->Put(object);
    return true;
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
  const auto select = [&](const ObjectTable& table) {
    for (const ObjectPtr& object : table) {
      if (selector.Matches(object->labels())) found.push_back(object);
    }
  };
  absl::ReaderMutexLock lock(&impl_->mu);
  if (ns.empty()) {
    select(impl_->objects);
    return found;
  }
  if (!impl_->namespaces.has_value()) {
    // In between others may change the objects, but the index, once it is built, stays.
    impl_->mu.ReaderUnlock();
    impl_->IndexNamespaces();
    impl_->mu.ReaderLock();
  }
  if (const ObjectTable* table = impl_->namespaces->Find(ns)) select(*table);
  return found;
}

std::vector<ObjectPtr> Store::ByIndex(absl::string_view index, absl::string_view value) const {
  absl::ReaderMutexLock lock(&impl_->mu);
  const auto it = impl_->indexes.find(index);
  ABSL_HARDENING_ASSERT(it != impl_->indexes.end() && "no such index");
  const ObjectTable* table = it->second.Find(value);
  return table == nullptr ? std::vector<ObjectPtr>() : Contents(*table);
}

size_t Store::CountByIndex(absl::string_view index, absl::string_view value) const {
  absl::ReaderMutexLock lock(&impl_->mu);
  const auto it = impl_->indexes.find(index);
  ABSL_HARDENING_ASSERT(it != impl_->indexes.end() && "no such index");
  const ObjectTable* table = it->second.Find(value);
  return table == nullptr ? 0 : table->size();
}

size_t Store::size() const {
  absl::ReaderMutexLock lock(&impl_->mu);
  return impl_->objects.size();
}

void Store::AddIndex(const std::string& name, IndexFn fn) {
  absl::MutexLock lock(&impl_->mu);
  const auto [it, added] = impl_->indexes.try_emplace(name, std::move(fn));
  if (!added) return;
  for (const ObjectPtr& object : impl_->objects) it->second.Add(object);
}

bool Store::Put(ObjectPtr object, ObjectPtr* previous) {
  // Declared before the lock, because freeing the last reference may free a whole object.
  ObjectPtr held;
  absl::MutexLock lock(&impl_->mu);
  held = impl_->Held(KeyView(object));
  if (held != nullptr && !IsNewer(*object, *held)) return false;
  // A late event of an object whose deletion is known must not bring it back.
  if (impl_->IsDeletedSince(*object, 0)) return false;
  if (previous != nullptr) *previous = held;
  impl_->Set(object, held);
  return true;
}

Store::ListMark Store::BeginList() const {
  absl::ReaderMutexLock lock(&impl_->mu);
  return {.newest = impl_->newest, .deletions = impl_->deletions};
}

bool Store::PutListed(const ObjectPtr& object, const ListMark& mark, int64_t list_version,
                      ObjectPtr* previous) {
  // Whether versions of this list can be compared with those of what is held.
  const bool came_later = list_version >= 0 && !WentBack(mark, list_version);
  ObjectPtr held;
  absl::MutexLock lock(&impl_->mu);
  held = impl_->Held(KeyView(object));
  if (held == nullptr) {
    if (impl_->IsDeletedSince(*object, mark.deletions)) return false;
  } else {
    if (came_later && ResourceVersionOf(*held) > list_version) return false;
    if (held->resource_version() == object->resource_version() && held->root() == object->root()) {
      return false;
    }
  }
  if (previous != nullptr) *previous = held;
  impl_->Set(object, held);
  return true;
}

void Store::EndList(const ListMark& mark, int64_t list_version) {
  absl::MutexLock lock(&impl_->mu);
  if (!WentBack(mark, list_version)) {
    impl_->newest = std::max(impl_->newest, list_version);
    return;
  }
  // Deletions of the other history must not cover objects of this one.
  impl_->newest = list_version;
  for (TombstoneTable* table : {&impl_->recent_deletions, &impl_->older_deletions}) {
    absl::erase_if(*table,
                   [&](const auto& entry) { return entry.second.number <= mark.deletions; });
  }
}

ObjectPtr Store::Remove(const ObjectKey& key, const Object* deleted) {
  absl::MutexLock lock(&impl_->mu);
  const ObjectPtr held = impl_->Held(KeyView(key));
  if (deleted == nullptr && held == nullptr) return nullptr;

  Tombstone tombstone;
  tombstone.number = ++impl_->deletions;
  tombstone.version = ResourceVersionOf(deleted != nullptr ? *deleted : *held);
  if (deleted == nullptr) tombstone.dead_uid = std::string(held->uid());
  const int64_t deleted_at = tombstone.version;
  impl_->newest = std::max(impl_->newest, deleted_at);
  impl_->recent_deletions[key].Merge(std::move(tombstone));

  if (held == nullptr) return nullptr;
  if (deleted_at >= 0 && ResourceVersionOf(*held) > deleted_at) return nullptr;
  impl_->Erase(held);
  return held;
}

void Store::Clear() {
  std::vector<ObjectPtr> freed;  // After the unlock.
  absl::MutexLock lock(&impl_->mu);
  freed = Contents(impl_->objects);
  for (const ObjectPtr& held : freed) impl_->Erase(held);
}

void Store::AgeTombstones() {
  TombstoneTable expired;
  absl::MutexLock lock(&impl_->mu);
  expired = std::exchange(impl_->older_deletions, std::move(impl_->recent_deletions));
  impl_->recent_deletions = TombstoneTable();
}

}  // namespace kube
