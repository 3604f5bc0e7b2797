// Sends writes in bulk requests that OpenSearch accepts.
#ifndef SEARCH_OPENSEARCH_BULK_WRITER_H_
#define SEARCH_OPENSEARCH_BULK_WRITER_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "base/stop_token.h"
#include "search/opensearch/bulk.h"
#include "search/opensearch/opensearch_client.h"

namespace search {

// Returns what became of each write. A request that OpenSearch refuses as too large, or as a whole
// for its contents, is sent in halves, down to the single write that it is about. An error means
// that any of the writes may have been executed and that all may be sent again, after
// `retry_after` if the server asked for that.
absl::StatusOr<std::vector<WriteResult>> SendWrites(OpenSearchClient& client,
                                                    absl::Span<const BulkWrite> writes,
                                                    absl::Duration timeout,
                                                    const base::StopToken& stop);

// What an error of SendWrites carries of the header Retry-After; zero if nothing.
absl::Duration RetryAfterOf(const absl::Status& error);

}  // namespace search

#endif  // SEARCH_OPENSEARCH_BULK_WRITER_H_
