// Queries of an OpenSearch in memory: those forms that karmada-search asks for.
#ifndef TESTS_SEARCH_OPENSEARCH_MEMORY_QUERY_H_
#define TESTS_SEARCH_OPENSEARCH_MEMORY_QUERY_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/json.h"

namespace tests {

// Returns the texts of all values at a dotted path; names of members may contain dots.
std::vector<std::string> TextsAt(const json::Value& document, absl::string_view path);

// Evaluates bool (filter, must_not), term, terms, exists and match_all; a null query finds all.
bool IsFound(const json::Value& query, const json::Value& document);

}  // namespace tests

#endif  // TESTS_SEARCH_OPENSEARCH_MEMORY_QUERY_H_
