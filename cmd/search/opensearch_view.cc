// Answers a list from OpenSearch instead of from the caches. It reads the query (which options of
// lists mean something here, and which do not), asks every OpenSearch that mirrors the kind, and
// writes the page as list or table. The documents are as old as the mirror is behind. There is no
// common resourceVersion, so an answer has none and a request with one is refused; watches do not
// exist here. Nothing is kept between requests: the continue token has all that the next page
// needs.

#include "cmd/search/opensearch_view.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/json.h"
#include "base/status.h"
#include "kube/server/api_errors.h"
#include "kube/server/field_labels.h"
#include "kube/server/list_options.h"
#include "kube/server/negotiation.h"
#include "kube/server/tables/table_output.h"
#include "search/opensearch/search_query.h"
#include "search/proxy/read_request.h"

namespace cmd {
namespace {

// Shorter than the minute that API servers wait, so that callers learn the reason.
constexpr absl::Duration kPatience = absl::Seconds(30);

using kube::server::AnswerForm;
using kube::server::FieldLabel;
using kube::server::FieldLabels;

// Returns the API error for an error of the search.
// What is not the caller's mistake is a 503: the same request may succeed later.
absl::Status ApiErrorOf(const absl::Status& status) {
  if (kube::server::IsApiError(status)) return status;
  if (absl::IsInvalidArgument(status)) return kube::server::BadRequest(status.message());
  return kube::server::ServiceUnavailable(absl::StrCat("OpenSearch: ", status.message()));
}

json::Value MetadataOf(const search::DocumentPage& page) {
  // Documents of many clusters have no common version.
  json::Value metadata = json::Value::Object({{"resourceVersion", ""}});
  if (!page.continue_token.empty()) metadata.Set("continue", page.continue_token);
  if (page.remaining > 0) metadata.Set("remainingItemCount", page.remaining);
  return metadata;
}

json::Value TableOfPage(const search::DocumentPage& page, const kube::server::TablePrinter& printer,
                        const AnswerForm& form, kube::server::IncludeObject include) {
  std::vector<kube::ObjectPtr> objects;
  for (const kube::Object& item : page.items) objects.push_back(kube::Share(kube::Object(item)));
  return kube::server::TableOf(printer, objects, MetadataOf(page),
                               {.include = include, .with_columns = true, .version = form.version});
}

json::Value ListOfPage(const search::DocumentPage& page, const kube::Gvk& gvk,
                       const AnswerForm& form) {
  const bool partial = form.kind == AnswerForm::Kind::kPartial;
  std::vector<json::Value> items;
  for (const kube::Object& item : page.items) {
    items.push_back(partial ? kube::server::PartialMetadataOf(item, form.version) : item.root());
  }
  return json::Value::Object(
      {{"apiVersion", partial ? absl::StrCat("meta.k8s.io/", form.version) : gvk.ApiVersion()},
       {"items", json::Value::OfItems(std::move(items))},
       {"kind", partial ? "PartialObjectMetadataList" : absl::StrCat(gvk.kind, "List")},
       {"metadata", MetadataOf(page)}});
}

// Returns whether OpenSearch finds exactly the objects that API servers select by the field.
bool IsIndexed(const FieldLabel& field) {
  const bool has_place = field.paths.size() == 1 && field.absent.empty() &&
                         absl::StrJoin(field.paths[0], ".") == field.label;
  return has_place &&
         (absl::StartsWith(field.label, "metadata.") || absl::StartsWith(field.label, "spec.") ||
          absl::StartsWith(field.label, "status."));
}

// Fields that API servers know are selected by as there; any other path below spec or status as
// OpenSearch has it.
void SetFields(const kube::FieldSelector& selector, search::DocumentQuery& query) {
  using Term = kube::FieldSelector::Term;
  const FieldLabels known = FieldLabels::Of(query.kind);
  std::vector<std::pair<FieldLabel, Term>> compared;
  for (const Term& term : selector.terms()) {
    const auto field =
        std::find_if(known.all().begin(), known.all().end(),
                     [&](const FieldLabel& label) { return label.label == term.field; });
    if (field == known.all().end() || IsIndexed(*field)) {
      query.fields.push_back(term);
    } else {
      compared.emplace_back(*field, term);
    }
  }
  if (compared.empty()) return;
  // These are compared here, with the objects of the page, because OpenSearch has no such field.
  query.also = [compared = std::move(compared)](const kube::Object& object) {
    return std::all_of(compared.begin(), compared.end(), [&](const auto& entry) {
      const auto& [field, term] = entry;
      return (field.ValueIn(object.root()) == term.value) == term.equal;
    });
  };
}

absl::StatusOr<search::DocumentQuery> QueryFor(const kube::aggregation::ApiRequest& request,
                                               const kube::Gvk& gvk) {
  ASSIGN_OR_RETURN(const kube::server::ListOptions options,
                   kube::server::ListOptions::Read(request.http));
  // Documents of many clusters have no common version to be compared with.
  if (!options.resource_version.empty() && options.resource_version != "0") {
    return kube::server::BadRequest(
        "resourceVersion: lists from OpenSearch have no version; leave it out, or use "
        "search/cache");
  }
  auto sort = kube::SortOrder::Parse(request.http.Query("sort"));
  if (!sort.ok()) return kube::server::BadRequest(sort.status().message());
  search::DocumentQuery query{.kind = gvk,
                              .ns = request.info.key.ns,
                              .name = request.info.key.name,
                              .labels = options.labels,
                              .limit = std::max<int64_t>(options.limit, 0),
                              .continue_token = options.continue_token,
                              .sort = *std::move(sort)};
  SetFields(options.fields, query);
  const std::string cluster(request.http.Query("cluster"));
  if (!cluster.empty()) query.clusters = {cluster};
  return query;
}

}  // namespace

absl::StatusOr<base::HttpResponse> OpenSearchView::Answer(
    const kube::aggregation::ApiRequest& request) const {
  const std::optional<kube::Resource> resource = parts_.resource(request.info.gvr);
  std::vector<std::shared_ptr<search::OpenSearchMirror>> mirrors;
  if (resource.has_value()) mirrors = parts_.mirrors.MirrorsOf(resource->gvk);
  if (mirrors.empty()) {
    return kube::server::ToStatus({404,
                                   "NotFound",
                                   absl::StrCat("no ResourceRegistry mirrors ",
                                                request.info.gvr.ToString(), " into an OpenSearch"),
                                   {}});
  }
  ASSIGN_OR_RETURN(const AnswerForm form, kube::server::Negotiate(request.http));
  ASSIGN_OR_RETURN(const auto include, kube::server::IncludeOf(request.http, form));
  ASSIGN_OR_RETURN(search::DocumentQuery query, QueryFor(request, resource->gvk));
  query.deadline = parts_.clock.SteadyNow() + kPatience;
  std::vector<search::OpenSearchClient*> clients;
  for (const auto& mirror : mirrors) {
    // One OpenSearch that cannot be asked fails the list: a part of the objects would look like all
    // of them.
    const absl::Status error = mirror->SearchError();
    if (!error.ok()) return ApiErrorOf(error);
    clients.push_back(&mirror->client());
  }
  const auto page = search::SearchDocuments(clients, parts_.index_prefix, query, request.stop);
  if (!page.ok()) return ApiErrorOf(page.status());
  const bool table = form.kind == AnswerForm::Kind::kTable;
  const search::CustomKinds& kinds = parts_.kinds == nullptr ? no_kinds_ : *parts_.kinds;
  const auto printer = search::PrinterWithCluster(kinds, *resource);
  return kube::server::AnswerOf(
      200,
      table ? TableOfPage(*page, *printer, form, include) : ListOfPage(*page, resource->gvk, form),
      form);
}

void OpenSearchView::Handle(const kube::aggregation::ApiRequest& request,
                            base::HttpResponder& responder) const {
  absl::StatusOr<base::HttpResponse> answer = Answer(request);
  responder.Send(answer.ok() ? *std::move(answer) : kube::server::ErrorAnswer(answer.status()));
}

}  // namespace cmd
