#include "kube/cache/internal/known_deletions.h"

#include <algorithm>
#include <utility>

namespace kube::internal {
namespace {

// What an entry of a table takes: twice its size, because tables are half empty at times, and
// texts.
size_t MemoryOf(const ObjectKey& key, const std::string& uid) {
  constexpr size_t kEntry = 2 * (sizeof(ObjectKey) + 64);
  return kEntry + key.ns.capacity() + key.name.capacity() + uid.capacity();
}

}  // namespace

bool KnownDeletions::Tombstone::Covers(const Object& object) const {
  if (!deletion.dead_uid.empty() && object.uid() == deletion.dead_uid) return true;
  const int64_t version = ResourceVersionOf(object);
  return version >= 0 && version <= deletion.version;
}

void KnownDeletions::Add(const ObjectKey& key, Deletion deletion) {
  if (recent_bytes_ > kMostBytes) Age();
  const auto [entry, is_new] = recent_.try_emplace(key);
  if (is_new) recent_bytes_ += MemoryOf(entry->first, deletion.dead_uid);
  Deletion& known = entry->second.deletion;
  known.version = std::max(known.version, deletion.version);
  if (!deletion.dead_uid.empty()) known.dead_uid = std::move(deletion.dead_uid);
  entry->second.number = ++count_;
  charge_.Resize(recent_bytes_ + older_bytes_);
}

bool KnownDeletions::Cover(const Object& object, uint64_t known) const {
  if (recent_.empty() && older_.empty()) return false;
  const ObjectKey key = object.key();
  for (const Table* table : {&recent_, &older_}) {
    const auto it = table->find(key);
    if (it == table->end() || it->second.number <= known) continue;
    if (it->second.Covers(object)) return true;
  }
  return false;
}

void KnownDeletions::Age() {
  if (!older_.empty()) forgotten_ = older_until_;
  older_ = std::exchange(recent_, Table());
  older_bytes_ = std::exchange(recent_bytes_, 0);
  older_until_ = count_;
  charge_.Resize(older_bytes_);
}

void KnownDeletions::Forget(uint64_t known) {
  for (Table* table : {&recent_, &older_}) {
    absl::erase_if(*table, [&](const auto& entry) { return entry.second.number <= known; });
  }
}

}  // namespace kube::internal
