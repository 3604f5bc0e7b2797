// Compares the documents of a slice with what the cache has.
#ifndef SEARCH_OPENSEARCH_SLICE_COMPARISON_H_
#define SEARCH_OPENSEARCH_SLICE_COMPARISON_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/stop_token.h"
#include "search/opensearch/document_version.h"
#include "search/opensearch/mirror.h"
#include "search/opensearch/opensearch_client.h"

namespace search {

// A document, as far as a comparison needs it.
struct StoredDocument {
  std::string uid;
  DocumentVersion version;
};

// The epoch that follows; the last one has no successor.
int64_t NextEpoch(int64_t epoch);

// Reads the ids and versions of all documents of a cluster in an index, page by page, ordered by
// uid. What was written before the call is seen. A missing index has none.
absl::StatusOr<std::vector<StoredDocument>> ReadStored(OpenSearchClient& client,
                                                       absl::string_view index,
                                                       absl::string_view cluster, int64_t page_size,
                                                       const base::StopToken& stop);

struct SliceDifference {
  // The epoch of the slice from now on: the greatest of its documents, or a new one.
  int64_t epoch = 0;
  std::vector<const MirroredObject*> to_write;   // Into the snapshot.
  std::vector<const StoredDocument*> to_delete;  // Into the stored documents.
  // The greatest version of a document that is newer than the snapshot knows; 0 when there is none.
  // Either another replica is ahead, or the member's versions went back.
  int64_t ahead = 0;
};

// Returns what makes the documents those of the snapshot. A document that is newer than the
// snapshot is left alone. The epoch is a new one when a document cannot have come about in the
// history that the snapshot is part of: then everything is written. The result points into both
// arguments.
SliceDifference CompareSlice(const SliceSnapshot& snapshot,
                             const std::vector<StoredDocument>& stored, int64_t epoch);

}  // namespace search

#endif  // SEARCH_OPENSEARCH_SLICE_COMPARISON_H_
