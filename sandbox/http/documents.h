// The documents that clients read first, of what a server serves at present: discovery and OpenAPI.
#ifndef SANDBOX_HTTP_DOCUMENTS_H_
#define SANDBOX_HTTP_DOCUMENTS_H_

#include <optional>
#include <vector>

#include "base/http_server.h"
#include "sandbox/kinds/resource_info.h"

namespace sandbox {

// Answers GET of /api, /apis, /openapi/v2, /openapi/v3 and what is below them, but for resources;
// nullopt for other paths, and for groups and versions that are not served. Version 2 of OpenAPI
// has no definitions, but comes as gnostic's protobuf message too, which old clients ask for.
std::optional<base::HttpResponse> DocumentAnswer(const base::HttpRequest& request,
                                                 const std::vector<ResourceInfoPtr>& served);

}  // namespace sandbox

#endif  // SANDBOX_HTTP_DOCUMENTS_H_
