// Lists in an order that the caller chooses.
#ifndef SEARCH_CACHE_SORTED_LIST_H_
#define SEARCH_CACHE_SORTED_LIST_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "kube/meta/sort_order.h"
#include "search/cache/multi_cluster_cache.h"

namespace search {

// What is kept of objects while they are compared may have so many bytes.
inline constexpr size_t kMaxSortBytes = 32 << 20;

// Returns the list (or its page) in this order, over all clusters; objects with equal values stay
// in the order of their clusters, namespaces and names. Objects of one cluster that follow one
// another are a part of the answer. `remaining` is always known.
//
// Every page shows the state of the first one, as without an order, and reads and sorts it again;
// the error is kOutOfRange (410) when that state has left the history, or one of its clusters has
// left the scope. kInvalidArgument for a continue token of another list, and for a page (or a list
// without limit) of so many objects that more than kMaxSortBytes would be kept of them.
absl::StatusOr<ListAnswer> ListSorted(const MultiClusterCache& cache, const ListRequest& request,
                                      const kube::SortOrder& order);

}  // namespace search

#endif  // SEARCH_CACHE_SORTED_LIST_H_
