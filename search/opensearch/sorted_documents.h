// Lists of documents in an order that the caller chooses.
#ifndef SEARCH_OPENSEARCH_SORTED_DOCUMENTS_H_
#define SEARCH_OPENSEARCH_SORTED_DOCUMENTS_H_

#include "absl/status/statusor.h"
#include "base/stop_token.h"
#include "search/opensearch/document_hits.h"
#include "search/opensearch/search_query.h"

namespace search {

// Returns the page of all `hits` that `query` means, with its order, limit and continue token.
// kInvalidArgument for a token of another list.
//
// REQUIRES: the query has an order; the hits are what QueryOf finds, from the first one on.
absl::StatusOr<DocumentPage> SortDocuments(MergedHits& hits, const DocumentQuery& query,
                                           const base::StopToken& stop);

}  // namespace search

#endif  // SEARCH_OPENSEARCH_SORTED_DOCUMENTS_H_
