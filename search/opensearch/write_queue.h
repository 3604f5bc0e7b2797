// What is still to be written: the newest state of each document.
//
// The queue has at most one entry for a document, so its size is limited by the number of objects
// and of deletions, however long OpenSearch does not answer. Entries leave in the order in which
// their documents were added; those that failed wait apart for their next try. An entry shares the
// object with the cache until it is written.
#ifndef SEARCH_OPENSEARCH_WRITE_QUEUE_H_
#define SEARCH_OPENSEARCH_WRITE_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "base/clock.h"

namespace search {

// Where a document lies. Slices are numbered by their owner, to keep keys small.
struct DocumentKey {
  int64_t slice = 0;
  std::string uid;

  friend auto operator<=>(const DocumentKey&, const DocumentKey&) = default;
  template <class H>
  friend H AbslHashValue(H h, const DocumentKey& k) {
    return H::combine(std::move(h), k.slice, k.uid);
  }
};

struct PendingWrite {
  int64_t resource_version = 0;
  std::function<std::string()> json;  // Empty: a deletion.
  // A deletion that corrects the index rather than follows an event: with the version that the
  // document has, so that the same object may be written again later.
  std::optional<int64_t> exact_version;
  bool also_equal = false;  // As BulkWrite.
  // A comparison has found that the document is not what it should be. Stays with the document
  // until it is written, in whatever state.
  bool compared = false;
  int attempts = 0;  // How often it failed.
};

// Not thread-safe.
class WriteQueue {
 public:
  using Item = std::pair<DocumentKey, PendingWrite>;

  // Puts a newer state in the place of what waits for the document.
  void Put(const DocumentKey& key, PendingWrite write, base::SteadyTime now);
  // Does nothing if a write of the document is waiting: that one is newer.
  void PutIfAbsent(const DocumentKey& key, PendingWrite write, base::SteadyTime now);
  // Puts back what failed, to be taken at `at`; what was added meanwhile is newer and stays.
  void PutBack(Item item, base::SteadyTime at);
  // Forgets all entries of a slice.
  void EraseSlice(int64_t slice);

  // Takes the entries whose turn it is, at most `max`.
  std::vector<Item> Take(size_t max, base::SteadyTime now);
  // When the entry that waits longest was added, and when the next failed one may be taken;
  // InfiniteFuture when there is none.
  base::SteadyTime oldest() const;
  base::SteadyTime next_retry() const;
  // Entries that may be taken at once.
  size_t ready() const { return order_.size(); }
  size_t size() const { return entries_.size(); }
  // Entries that wait for their next try.
  size_t delayed() const { return delayed_.size(); }
  // Entries that are deletions by an event.
  size_t deletions() const { return deletions_; }
  // Entries that comparisons have found.
  size_t compared() const { return compared_; }

 private:
  struct Place {
    DocumentKey key;
    base::SteadyTime since;
  };

  void Count(const PendingWrite& write, bool added);

  absl::flat_hash_map<DocumentKey, PendingWrite> entries_;
  size_t deletions_ = 0, compared_ = 0;
  // Each entry has a place in one of these.
  std::deque<Place> order_;
  std::multimap<base::SteadyTime, DocumentKey> delayed_;
};

}  // namespace search

#endif  // SEARCH_OPENSEARCH_WRITE_QUEUE_H_
