// Recognises which events of a watch are echoes of this process's own writes.
#ifndef KUBE_CACHE_INTERNAL_OWN_VERSIONS_H_
#define KUBE_CACHE_INTERNAL_OWN_VERSIONS_H_

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "absl/container/btree_set.h"

namespace kube::internal {

// The resourceVersions of states that the store has from the answers to writes, and that the watch
// has not reached yet. No two states of a resource share a version, and a watch delivers them in
// ascending order. If some are forgotten, their events are read in vain, with no other effect. Not
// thread-safe.
class OwnVersions {
 public:
  // REQUIRES: the state of this version has been passed to the store.
  void Add(int64_t version) {
    if (version <= passed_) return;  // The watch was faster than the answer.
    versions_.insert(version);
    if (versions_.size() > kMost) versions_.erase(versions_.begin());
  }
  // The watch has reached this version; returns whether it is one of our own.
  bool Pass(int64_t version) {
    passed_ = version;
    const auto after = versions_.upper_bound(version);
    const bool ours = after != versions_.begin() && *std::prev(after) == version;
    versions_.erase(versions_.begin(), after);
    return ours;
  }
  // Call it when the server's state is listed again, since its versions may be lower than before.
  void Reset() {
    versions_.clear();
    passed_ = -1;
  }

 private:
  // There are more only when the watch is broken, and then a list follows.
  static constexpr size_t kMost = 10000;

  absl::btree_set<int64_t> versions_;
  int64_t passed_ = -1;
};

}  // namespace kube::internal

#endif  // KUBE_CACHE_INTERNAL_OWN_VERSIONS_H_
