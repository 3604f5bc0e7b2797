// A map that forgets its least recently used entries.
#ifndef KUBE_RUNTIME_INTERNAL_LRU_CACHE_H_
#define KUBE_RUNTIME_INTERNAL_LRU_CACHE_H_

#include <cstddef>
#include <list>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace kube::internal {

// Keys are strings. Not thread-safe.
template <class V>
class LruCache {
 public:
  explicit LruCache(size_t capacity) : capacity_(capacity) {}

  // Returns the entry, which becomes the most recently used; an absent one is created empty. The
  // reference is valid until the next call.
  V& operator[](const std::string& key) {
    if (const auto it = places_.find(key); it != places_.end()) {
      entries_.splice(entries_.begin(), entries_, it->second);
      return it->second->second;
    }
    if (entries_.size() == capacity_) {
      places_.erase(entries_.back().first);
      entries_.pop_back();
    }
    entries_.emplace_front(key, V());
    places_.emplace(entries_.front().first, entries_.begin());
    return entries_.front().second;
  }

  size_t size() const { return entries_.size(); }

 private:
  using Entries = std::list<std::pair<std::string, V>>;

  const size_t capacity_;
  Entries entries_;  // The most recently used first.
  // The keys are views of those in entries_.
  absl::flat_hash_map<absl::string_view, typename Entries::iterator> places_;
};

}  // namespace kube::internal

#endif  // KUBE_RUNTIME_INTERNAL_LRU_CACHE_H_
