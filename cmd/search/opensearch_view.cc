// Answers a list from OpenSearch instead of from the caches. It reads the query (which options of
// lists mean something here, and which do not), asks every OpenSearch that mirrors the kind, and
// writes the page as list or table. What is found is kept as text, moved into the answer, and
// counted, with what is being read, until it has been sent: all searches together have so much
// memory, and each user a share of it; beyond it the answer is a 429. The documents are as old as
// the mirror is behind. There is no common resourceVersion, so an answer has none and a request
// with one is refused; watches do not exist here. Nothing is kept between requests: the continue
// token has all that the next page needs.

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
#include "search/proxy/list_frame.h"
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

// What is sent at once. Shorter items are put together.
constexpr size_t kPiece = 64 << 10;

// Writes a page, an item at a time: each is turned into the form that was asked for, and then in
// the place of what it was.
class PageWriter {
 public:
  struct How {
    const kube::Gvk& kind;
    const kube::server::TablePrinter& printer;
    const AnswerForm& form;
    kube::server::IncludeObject include;
  };
  PageWriter(const How& how, search::DocumentPage page)
      : how_(how),
        page_(std::move(page)),
        frame_(
            how_.form, [this](json::Value items) { return Frame(std::move(items)); },
            page_.items.empty()) {}

  // The errors of AnswerSize::Add: as YAML, for instance, an object is longer.
  absl::StatusOr<base::HttpResponse> Write() {
    RETURN_IF_ERROR(Form());
    base::HttpResponse response;
    response.content_type = how_.form.ContentType();
    std::string piece = frame_.head();
    const auto end_piece = [&] { response.more_body.push_back(Piece(std::exchange(piece, ""))); };
    for (std::string& item : page_.items) {
      if (piece.size() >= kPiece) end_piece();
      if (&item != &page_.items.front()) piece += frame_.separator();
      if (piece.size() + item.size() < kPiece) {
        piece += std::exchange(item, "");
        continue;
      }
      // A long item is moved. Nothing is added to it, because that would copy it.
      end_piece();
      piece = std::move(item);
    }
    if (piece.size() >= kPiece) end_piece();
    piece += frame_.tail();
    end_piece();
    return response;
  }

 private:
  json::Value Frame(json::Value items) const {
    if (how_.form.kind == AnswerForm::Kind::kTable) {
      json::Value table =
          kube::server::TableOf(how_.printer, {}, MetadataOf(page_), TableOptionsOf(true));
      table.Set("rows", std::move(items));
      return table;
    }
    const bool partial = how_.form.kind == AnswerForm::Kind::kPartial;
    return json::Value::Object(
        {{"apiVersion",
          partial ? absl::StrCat("meta.k8s.io/", how_.form.version) : how_.kind.ApiVersion()},
         {"items", std::move(items)},
         {"kind", partial ? "PartialObjectMetadataList" : absl::StrCat(how_.kind.kind, "List")},
         {"metadata", MetadataOf(page_)}});
  }

  kube::server::TableOptions TableOptionsOf(bool with_columns) const {
    return {.include = how_.include, .with_columns = with_columns, .version = how_.form.version};
  }

  json::Value Formed(kube::Object object) const {
    if (how_.form.kind == AnswerForm::Kind::kTable) {
      const json::Value table = kube::server::TableOf(
          how_.printer, {kube::Share(std::move(object))}, json::Value(), TableOptionsOf(false));
      return table["rows"].At(0);
    }
    if (how_.form.kind == AnswerForm::Kind::kPartial) {
      return kube::server::PartialMetadataOf(object, how_.form.version);
    }
    return object.root();
  }

  absl::Status Form() {
    const bool is_text =
        how_.form.kind == AnswerForm::Kind::kPlain && !how_.form.yaml && !how_.form.pretty;
    if (is_text) return absl::OkStatus();
    for (std::string& item : page_.items) {
      ASSIGN_OR_RETURN(json::Value value, json::Parse(item));
      std::string text;
      frame_.AppendItem(Formed(kube::Object(std::move(value))), text);
      RETURN_IF_ERROR(page_.size->Add(text.size()));
      page_.size->Remove(item.size());
      item = std::move(text);
    }
    return absl::OkStatus();
  }

  // The memory of the page counts until the last piece has been sent.
  base::SharedBytes Piece(std::string text) const {
    struct Held {
      std::string text;
      std::shared_ptr<const void> size;
    };
    const auto held = std::make_shared<const Held>(Held{std::move(text), page_.size});
    return {held, &held->text};
  }

  const How how_;
  search::DocumentPage page_;
  const search::ListFrame frame_;
};

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

OpenSearchView::OpenSearchView(Parts parts)
    : parts_(std::move(parts)),
      refused_(parts_.registry, "search-memory",
               "Searches in OpenSearch, and their answers that are being sent, have as much memory "
               "as they may, or as one user's may, which is half of it at most; pages (limit) need "
               "less.") {}

absl::StatusOr<std::shared_ptr<const void>> OpenSearchView::Take(const std::string& owner,
                                                                 size_t bytes) const {
  base::FairShare::Taken taken = memory_.Take(owner, static_cast<int64_t>(bytes));
  if (taken == nullptr) return refused_.Refuse();
  return taken;
}

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
  query.take = [this, owner = kube::aggregation::ShareOwner(request.user)](size_t bytes) {
    return Take(owner, bytes);
  };
  std::vector<search::OpenSearchClient*> clients;
  for (const auto& mirror : mirrors) {
    // One OpenSearch that cannot be asked fails the list: a part of the objects would look like all
    // of them.
    const absl::Status error = mirror->SearchError();
    if (!error.ok()) return ApiErrorOf(error);
    clients.push_back(&mirror->client());
  }
  auto page = search::SearchDocuments(clients, parts_.index_prefix, query, request.stop);
  if (!page.ok()) return ApiErrorOf(page.status());
  const search::CustomKinds& kinds = parts_.kinds == nullptr ? no_kinds_ : *parts_.kinds;
  const auto printer = search::PrinterWithCluster(kinds, *resource);
  auto response = PageWriter({resource->gvk, *printer, form, include}, *std::move(page)).Write();
  if (!response.ok()) return ApiErrorOf(response.status());
  return response;
}

void OpenSearchView::Handle(const kube::aggregation::ApiRequest& request,
                            base::HttpResponder& responder) const {
  absl::StatusOr<base::HttpResponse> answer = Answer(request);
  responder.Send(answer.ok() ? *std::move(answer) : kube::server::ErrorAnswer(answer.status()));
}

}  // namespace cmd
