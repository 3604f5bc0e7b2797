// A map that forgets its least recently used entries.
#ifndef KUBE_RUNTIME_INTERNAL_LRU_CACHE_H_
#define KUBE_RUNTIME_INTERNAL_LRU_CACHE_H_

#include <cstddef>
#include <list>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "base/clock.h"
#include "base/release_room.h"

namespace kube::internal {

// Keys are strings. Not thread-safe.
template <class V>
class LruCache {
 public:
  explicit LruCache(size_t capacity) : capacity_(capacity) {}

  // Returns the entry, which becomes the most recently used one; an absent one is created empty.
  // The reference is valid until the next call. REQUIRES: `now` is not before that of an earlier
  // call.
  V& Use(const std::string& key, base::SteadyTime now) {
    if (const auto it = places_.find(key); it != places_.end()) {
      entries_.splice(entries_.begin(), entries_, it->second);
      it->second->used = now;
      return it->second->value;
    }
    if (entries_.size() == capacity_) DropLast();
    entries_.push_front({key, V(), now});
    places_.emplace(entries_.front().key, entries_.begin());
    return entries_.front().value;
  }

  // Forgets the entries that were used before `time` for the last time.
  void DropUnusedSince(base::SteadyTime time) {
    if (entries_.empty() || entries_.back().used >= time) return;
    while (!entries_.empty() && entries_.back().used < time) DropLast();
    base::ReleaseRoom(places_);
  }

  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::string key;
    V value;
    base::SteadyTime used;
  };
  using Entries = std::list<Entry>;

  void DropLast() {
    places_.erase(entries_.back().key);
    entries_.pop_back();
  }

  const size_t capacity_;
  Entries entries_;  // The most recently used first.
  // The keys are views of those in entries_.
  absl::flat_hash_map<absl::string_view, typename Entries::iterator> places_;
};

}  // namespace kube::internal

#endif  // KUBE_RUNTIME_INTERNAL_LRU_CACHE_H_
