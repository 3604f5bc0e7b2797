// What a path must be like so that it can be forwarded. Private to search/proxy/.
#ifndef SEARCH_PROXY_INTERNAL_PATH_RULES_H_
#define SEARCH_PROXY_INTERNAL_PATH_RULES_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace search {

// Decodes percent-encoding. 400 when a percent sign is not followed by two hexadecimal digits.
absl::StatusOr<std::string> PercentDecoded(absl::string_view text);

// Returns OK for an escaped path that all programs split into the same segments; one slash at its
// end is permitted. 400 when the path does not begin with a slash, and for empty segments, ".",
// "..", encoded slashes, and characters that have to be encoded. What follows
// <resource>/<name>/proxy belongs to an application behind the cluster, so empty segments and
// encoded slashes are its own business there.
absl::Status CheckPath(absl::string_view path);

// Returns the query without the parameter, and the values that the parameter had.
absl::StatusOr<std::pair<std::string, std::vector<std::string>>> WithoutParameter(
    absl::string_view query, absl::string_view name);

}  // namespace search

#endif  // SEARCH_PROXY_INTERNAL_PATH_RULES_H_
