// Whether a caller demands a complete answer: the objects of all members, as new as the request
// asks for them, or an error. Private to search/proxy/.
#ifndef SEARCH_PROXY_INTERNAL_COMPLETENESS_H_
#define SEARCH_PROXY_INTERNAL_COMPLETENESS_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "base/http_server.h"
#include "search/cache/list_answer.h"

namespace search {

// Returns what the query parameter api::kCompleteParameter and the header api::kCompleteHeader say;
// nullopt without either. With `only_header` the parameter is not looked at. 400 for another value
// than true, false, 1 or 0, and when they do not say the same.
absl::StatusOr<std::optional<bool>> CompleteDemanded(const base::HttpRequest& request,
                                                     bool only_header = false);

// Returns the 503 for a caller who demands a complete answer when one cannot be given. It names the
// members by its message, and by headers as AddWarnings does.
base::HttpResponse IncompleteAnswer(const std::vector<MissingCluster>& missing);

}  // namespace search

#endif  // SEARCH_PROXY_INTERNAL_COMPLETENESS_H_
