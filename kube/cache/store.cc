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
#include "kube/cache/internal/known_deletions.h"
#include "kube/cache/internal/object_index.h"

namespace kube {
namespace {

using internal::KeyView;
using internal::NamespaceIndex;
using internal::ObjectIndex;
using internal::ObjectTable;

bool IsNewer(const Object& object, const Object& held) {
  const int64_t version = ResourceVersionOf(object);
  return version < 0 || version > ResourceVersionOf(held);
}

std::vector<ObjectPtr> Contents(const ObjectTable& table) {
  return std::vector<ObjectPtr>(table.begin(), table.end());
}

}  // namespace

struct Store::Impl {
  explicit Impl(std::shared_ptr<base::ByteBudget> budget) : deletions(std::move(budget)) {}

  mutable absl::Mutex mu;
  ObjectTable objects ABSL_GUARDED_BY(mu);
  absl::flat_hash_map<std::string, ObjectIndex> indexes ABSL_GUARDED_BY(mu);
  // Built when a namespace is listed for the first time.
  std::optional<NamespaceIndex> namespaces ABSL_GUARDED_BY(mu);
  internal::KnownDeletions deletions ABSL_GUARDED_BY(mu);
  int64_t newest ABSL_GUARDED_BY(mu) = -1;  // The highest resourceVersion so far.

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

Store::Store(std::shared_ptr<base::ByteBudget> budget)
    : impl_(std::make_unique<Impl>(std::move(budget))) {}
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
  if (impl_->deletions.Cover(*object, 0)) return false;
  if (previous != nullptr) *previous = held;
  impl_->Set(object, held);
  return true;
}

Store::ListMark Store::BeginList() const {
  absl::ReaderMutexLock lock(&impl_->mu);
  return {.newest = impl_->newest, .deletions = impl_->deletions.count()};
}

bool Store::PutListed(const ObjectPtr& object, const ListMark& mark, int64_t list_version,
                      ObjectPtr* previous) {
  // Whether versions of this list can be compared with those of what is held.
  const bool came_later = list_version >= 0 && !WentBack(mark, list_version);
  ObjectPtr held;
  absl::MutexLock lock(&impl_->mu);
  held = impl_->Held(KeyView(object));
  if (held == nullptr) {
    if (impl_->deletions.Cover(*object, mark.deletions)) return false;
  } else {
    const int64_t held_version = ResourceVersionOf(*held);
    if (came_later && held_version > list_version && held_version >= ResourceVersionOf(*object)) {
      return false;
    }
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
  impl_->deletions.Forget(mark.deletions);
}

ObjectPtr Store::Remove(const ObjectKey& key, const Object* deleted) {
  absl::MutexLock lock(&impl_->mu);
  const ObjectPtr held = impl_->Held(KeyView(key));
  if (deleted == nullptr && held == nullptr) return nullptr;

  const int64_t deleted_at = ResourceVersionOf(deleted != nullptr ? *deleted : *held);
  impl_->newest = std::max(impl_->newest, deleted_at);
  impl_->deletions.Add(key, {deleted_at, deleted == nullptr ? std::string(held->uid()) : ""});

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

bool Store::RemembersDeletionsSince(const ListMark& mark) const {
  absl::ReaderMutexLock lock(&impl_->mu);
  return impl_->deletions.RemembersSince(mark.deletions);
}

void Store::AgeDeletions() {
  absl::MutexLock lock(&impl_->mu);
  impl_->deletions.Age();
}

}  // namespace kube
