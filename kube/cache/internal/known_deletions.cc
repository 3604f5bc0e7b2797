#include "kube/cache/internal/known_deletions.h"

#include <algorithm>
#include <utility>

namespace kube::internal {
namespace {

// What an entry of a table takes without its uid: twice its size, because tables are half empty at
// times, and texts.
size_t MemoryOf(const ObjectKey& key) {
  constexpr size_t kEntry = 2 * (sizeof(ObjectKey) + 64);
  return kEntry + key.ns.size() + key.name.size();
}

}  // namespace

bool KnownDeletions::Tombstone::Covers(const Object& object) const {
  if (!deletion.dead_uid.empty() && object.uid() == deletion.dead_uid) return true;
  const int64_t version = ResourceVersionOf(object);
  return version >= 0 && version <= deletion.version;
}

void KnownDeletions::Add(const ObjectKey& key, Deletion deletion) {
  if (recent_.bytes > kMostBytes) Age();
  const auto [entry, is_new] = recent_.tombstones.try_emplace(key);
  if (is_new) recent_.bytes += MemoryOf(entry->first);
  Deletion& known = entry->second.deletion;
  known.version = std::max(known.version, deletion.version);
  if (!deletion.dead_uid.empty()) {
    recent_.bytes += deletion.dead_uid.size() - known.dead_uid.size();
    known.dead_uid = std::move(deletion.dead_uid);
  }
  entry->second.number = ++count_;
  Charge();
}

bool KnownDeletions::Cover(const Object& object, uint64_t known) const {
  if (recent_.tombstones.empty() && older_.tombstones.empty()) return false;
  const ObjectKey key = object.key();
  for (const Generation* generation : {&recent_, &older_}) {
    const auto it = generation->tombstones.find(key);
    if (it == generation->tombstones.end() || it->second.number <= known) continue;
    if (it->second.Covers(object)) return true;
  }
  return false;
}

void KnownDeletions::Age() {
  if (!older_.tombstones.empty()) forgotten_ = older_until_;
  older_ = std::exchange(recent_, Generation());
  older_until_ = count_;
  Charge();
}

void KnownDeletions::Forget(uint64_t known) {
  for (Generation* generation : {&recent_, &older_}) {
    absl::erase_if(generation->tombstones, [&](const auto& entry) {
      if (entry.second.number > known) return false;
      generation->bytes -= MemoryOf(entry.first) + entry.second.deletion.dead_uid.size();
      return true;
    });
  }
  Charge();
}

}  // namespace kube::internal
