// Lists in an order that the caller chooses.
#ifndef SEARCH_CACHE_SORTED_LIST_H_
#define SEARCH_CACHE_SORTED_LIST_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/json_fields.h"
#include "kube/meta/json_path.h"
#include "search/cache/multi_cluster_cache.h"

namespace search {

// The fields that a list is sorted by, the most important first. Immutable.
class SortOrder {
 public:
  struct Key {
    kube::JsonPath path;
    json::Fields fields;  // What the path needs of an object.
    bool descending = false;
  };

  SortOrder() = default;  // The order of names.
  // Reads JSONPath expressions, separated by commas, as `kubectl --sort-by` takes them: braces and
  // the first dot may be left out. A minus before one reverses it:
  // "-metadata.creationTimestamp,status.phase". kInvalidArgument for a text that is none.
  static absl::StatusOr<SortOrder> Parse(absl::string_view text);

  bool empty() const { return keys_.empty(); }
  const std::string& text() const { return text_; }
  const std::vector<Key>& keys() const { return keys_; }

 private:
  std::string text_;
  std::vector<Key> keys_;
};

// Returns the list (or its page) in this order, over all clusters. Numbers and quantities come
// before other texts, absent values last in either direction; objects with equal values stay in the
// order of their clusters, namespaces and names. Objects of one cluster that follow one another are
// a part of the answer. `remaining` is always known.
//
// Every page shows the state of the first one, as without an order, and reads and sorts it anew;
// the error is kOutOfRange (410) when that state has left the history, or one of its clusters has
// left the scope. kInvalidArgument for a continue token of another list.
absl::StatusOr<ListAnswer> ListSorted(const MultiClusterCache& cache, const ListRequest& request,
                                      const SortOrder& order);

}  // namespace search

#endif  // SEARCH_CACHE_SORTED_LIST_H_
