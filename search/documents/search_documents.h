// Answers what clients of karmada-search ask first: discovery and OpenAPI of search.karmada.io.
//
//   const SearchDocuments documents;
//   if (auto answer = documents.Answer(request)) responder->Send(*std::move(answer));
#ifndef SEARCH_DOCUMENTS_SEARCH_DOCUMENTS_H_
#define SEARCH_DOCUMENTS_SEARCH_DOCUMENTS_H_

#include <optional>
#include <string>

#include "base/http_server.h"
#include "kube/server/discovery.h"
#include "kube/server/openapi.h"

namespace search {

// Returns the resources of the group, sorted by name as upstream's discovery has them.
kube::server::ServedResources SearchResources();

// Immutable and thread-safe. The documents of OpenAPI are made once, at construction.
class SearchDocuments {
 public:
  SearchDocuments();

  // Answers GET and HEAD of /, /apis, /apis/GROUP[/VERSION], /openapi/v2, /openapi/v3 and its
  // documents; nullopt for other requests.
  std::optional<base::HttpResponse> Answer(const base::HttpRequest& request) const;

 private:
  const kube::server::ServedResources served_;
  std::string openapi_v2_;
  kube::server::OpenApiText openapi_v3_;
};

}  // namespace search

#endif  // SEARCH_DOCUMENTS_SEARCH_DOCUMENTS_H_
