// Writes registries and lists of them in the form that a client has asked for.
#ifndef SEARCH_REGISTRY_REGISTRY_ANSWERS_H_
#define SEARCH_REGISTRY_REGISTRY_ANSWERS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/http_server.h"
#include "base/json.h"
#include "kube/meta/object.h"
#include "kube/server/negotiation.h"
#include "kube/server/tables/table_output.h"

namespace search {

// What tables show: the kinds, whether they are synced, and the age. Upstream shows Name and
// Created At.
const kube::server::TablePrinter& RegistryPrinter();

// The request's wishes for the form of an answer.
struct AnswerWish {
  kube::server::AnswerForm form;
  kube::server::IncludeObject include = kube::server::IncludeObject::kMetadata;

  // 406 for a form that there is not, 400 for an unknown value of includeObject.
  static absl::StatusOr<AnswerWish> Of(const base::HttpRequest& request,
                                       kube::server::Offer offer = kube::server::Offer::kObjects);
};

// Returns the document of one registry.
json::Value RegistryDocument(const kube::ObjectPtr& registry, const AnswerWish& wish);
json::Value RegistryListDocument(const std::vector<kube::ObjectPtr>& registries,
                                 const json::Value& list_metadata, const AnswerWish& wish);
// Returns the Status that answers a deletion.
json::Value DeletedDocument(const kube::Object& registry);

}  // namespace search

#endif  // SEARCH_REGISTRY_REGISTRY_ANSWERS_H_
