// OpenAPI documents with the parts that kubectl uses: which kinds there are, that patches take
// fieldValidation, and the schemas of all kinds (those of built-in ones without descriptions).
#ifndef SANDBOX_HTTP_OPENAPI_H_
#define SANDBOX_HTTP_OPENAPI_H_

#include <string>

#include "absl/strings/string_view.h"
#include "base/json.h"
#include "sandbox/http/discovery.h"

namespace sandbox {

// Answers GET /openapi/v3: one path for each group and version.
json::Value OpenApiV3Index(const ServedResources& served);
// Answers GET /openapi/v3/apis/GROUP/VERSION; null when there is no such version.
json::Value OpenApiV3Document(const ServedResources& served, const std::string& group,
                              const std::string& version);
// Answers GET /openapi/v2: a document without definitions, as JSON or as gnostic's protobuf
// message.
std::string OpenApiV2Json();
std::string OpenApiV2Protobuf();

}  // namespace sandbox

#endif  // SANDBOX_HTTP_OPENAPI_H_
