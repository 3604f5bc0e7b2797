// Lists in an order that the caller chooses.
#ifndef SEARCH_CACHE_SORTED_LIST_H_
#define SEARCH_CACHE_SORTED_LIST_H_

#include "absl/status/statusor.h"
#include "kube/meta/sort_order.h"
#include "search/cache/multi_cluster_cache.h"

namespace search {

// Returns the list (or its page) in this order, over all clusters; objects with equal values stay
// in the order of their clusters, namespaces and names. Objects of one cluster that follow one
// another are a part of the answer. `remaining` is always known.
//
// Every page shows the state of the first one, as without an order, and reads and sorts it anew;
// the error is kOutOfRange (410) when that state has left the history, or one of its clusters has
// left the scope. kInvalidArgument for a continue token of another list.
absl::StatusOr<ListAnswer> ListSorted(const MultiClusterCache& cache, const ListRequest& request,
                                      const kube::SortOrder& order);

}  // namespace search

#endif  // SEARCH_CACHE_SORTED_LIST_H_
