// The OpenAPI schemas of search.karmada.io.
#ifndef SEARCH_DOCUMENTS_SCHEMAS_H_
#define SEARCH_DOCUMENTS_SCHEMAS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "base/json.h"

namespace search {

// Returns upstream's name of a schema of the group: "com.github.karmada-io....ResourceRegistry".
std::string SearchSchemaName(absl::string_view kind);

// Returns all schemas by name, in the form of OpenAPI version 3.
json::Value SearchSchemas();

}  // namespace search

#endif  // SEARCH_DOCUMENTS_SCHEMAS_H_
