// Answers what clients of karmada-search ask first: discovery and OpenAPI of search.karmada.io.
//
//   const SearchDocuments documents;
//   if (auto answer = documents.Answer(request)) responder->Send(*std::move(answer));
#ifndef SEARCH_DOCUMENTS_SEARCH_DOCUMENTS_H_
#define SEARCH_DOCUMENTS_SEARCH_DOCUMENTS_H_

#include "kube/server/api_documents.h"
#include "kube/server/discovery.h"

namespace search {

// Returns the resources of the group, sorted by name as upstream's discovery has them.
kube::server::ServedResources SearchResources();

class SearchDocuments : public kube::server::ApiDocuments {
 public:
  SearchDocuments();
};

}  // namespace search

#endif  // SEARCH_DOCUMENTS_SEARCH_DOCUMENTS_H_
