// Finds where documents lie, to find those of slices that nobody knows any more.
#ifndef SEARCH_OPENSEARCH_SLICE_PLACES_H_
#define SEARCH_OPENSEARCH_SLICE_PLACES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/stop_token.h"
#include "search/opensearch/opensearch_client.h"
#include "search/opensearch/slice_table.h"

namespace search {

// Returns each pair of a cluster and an index with documents of the mirror.
absl::StatusOr<std::vector<SlicePlace>> ReadPlaces(OpenSearchClient& client,
                                                   absl::string_view prefix,
                                                   const base::StopToken& stop);

}  // namespace search

#endif  // SEARCH_OPENSEARCH_SLICE_PLACES_H_
