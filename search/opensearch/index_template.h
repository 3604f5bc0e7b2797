// How the fields of documents are indexed: one composable template for all indices of a mirror.
#ifndef SEARCH_OPENSEARCH_INDEX_TEMPLATE_H_
#define SEARCH_OPENSEARCH_INDEX_TEMPLATE_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/json.h"
#include "base/stop_token.h"
#include "search/opensearch/opensearch_client.h"

namespace search {

// `owner` as in MirrorOptions. The body of PUT /_index_template/<prefix>. Nothing is mapped by
// itself (dynamic: false), so that no object adds fields to an index or disagrees with one that is
// there.
json::Value IndexTemplate(absl::string_view prefix, absl::string_view owner);

// OK for a lower-case name that indices may begin with.
absl::Status ValidateIndexPrefix(absl::string_view prefix);

// Checks that the OpenSearch has this template, and puts it otherwise. Returns whether it was put;
// existing indices then have got the mapping, too. kFailedPrecondition when the template belongs to
// another owner.
absl::StatusOr<bool> EnsureTemplate(OpenSearchClient& client, absl::string_view prefix,
                                    absl::string_view owner, const base::StopToken& stop);

}  // namespace search

#endif  // SEARCH_OPENSEARCH_INDEX_TEMPLATE_H_
