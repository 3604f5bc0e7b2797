// Answers what clients of an aggregated API server ask first: discovery and OpenAPI of the one
// version of a group that it serves.
//
//   const ApiDocuments documents(resources, contents);
//   if (auto answer = documents.Answer(request)) responder->Send(*std::move(answer));
#ifndef KUBE_SERVER_API_DOCUMENTS_H_
#define KUBE_SERVER_API_DOCUMENTS_H_

#include <optional>
#include <string>
#include <vector>

#include "base/http_server.h"
#include "kube/server/discovery.h"
#include "kube/server/openapi.h"

namespace kube::server {

// Immutable and thread-safe. The documents of OpenAPI are made once, at construction.
class ApiDocuments {
 public:
  // REQUIRES: `served` is not empty, and all of it is of one version of a group.
  ApiDocuments(ServedResources served, const OpenApiContents& contents);

  // Answers GET and HEAD of /, /apis, /apis/GROUP[/VERSION], /openapi/v2, /openapi/v3 and its
  // documents; nullopt for other requests.
  std::optional<base::HttpResponse> Answer(const base::HttpRequest& request) const;

 private:
  const ServedResources served_;
  const std::string openapi_v2_;
  const OpenApiText openapi_v3_;
};

// Returns a resource of the cluster that only leads elsewhere ("connect") and has no objects.
ServedResource ConnectingResource(const kube::Gvk& gvk, const char* name,
                                  std::vector<std::string> verbs);

}  // namespace kube::server

#endif  // KUBE_SERVER_API_DOCUMENTS_H_
