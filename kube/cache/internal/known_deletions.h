// The deletions that a store remembers, so that states which are older than a deletion do not bring
// an object back.
#ifndef KUBE_CACHE_INTERNAL_KNOWN_DELETIONS_H_
#define KUBE_CACHE_INTERNAL_KNOWN_DELETIONS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "base/byte_budget.h"
#include "kube/meta/names.h"
#include "kube/meta/object.h"

namespace kube::internal {

// Two generations of deletions: Age forgets the older one. As a server may report deletions of as
// many objects as it likes, a generation of more than kMostBytes ages by itself. Not thread-safe.
class KnownDeletions {
 public:
  static constexpr size_t kMostBytes = 8 << 20;

  // Charges the budget, which may be null.
  explicit KnownDeletions(std::shared_ptr<base::ByteBudget> budget) : charge_(std::move(budget)) {}

  // How much is known of a deletion: a watch reports at which version the object left (with a label
  // selector it may return later with the same uid); the answer to our own DELETE shows only that
  // this uid has ended. -1 and "" say that it is not known.
  struct Deletion {
    int64_t version = -1;
    std::string dead_uid;
  };
  void Add(const ObjectKey& key, Deletion deletion);
  // Returns how many deletions have been added so far.
  uint64_t count() const { return count_; }
  // Returns whether a deletion later than the first `known` ones, as far as they are remembered,
  // covers this state of the object.
  bool Cover(const Object& object, uint64_t known) const;
  // Returns whether all deletions later than the first `known` ones are remembered.
  bool RemembersSince(uint64_t known) const { return forgotten_ <= known; }

  void Age();
  // Forgets the first `known` ones, whose history is not the server's any more.
  void Forget(uint64_t known);

 private:
  struct Tombstone {
    Deletion deletion;
    uint64_t number = 0;  // In the order in which they were added.
    bool Covers(const Object& object) const;
  };
  struct Generation {
    absl::flat_hash_map<ObjectKey, Tombstone> tombstones;
    size_t bytes = 0;  // What they take.
  };
  void Charge() { charge_.Resize(recent_.bytes + older_.bytes); }

  Generation recent_, older_;
  uint64_t count_ = 0;
  uint64_t older_until_ = 0;  // The last number of the older generation.
  uint64_t forgotten_ = 0;    // The last number that Age has forgotten.
  base::ByteBudget::Charge charge_;
};

}  // namespace kube::internal

#endif  // KUBE_CACHE_INTERNAL_KNOWN_DELETIONS_H_
