// Without an order of the caller's own, a list is in the order of the objects' places, which never
// change. The continue token is the place after which the next page begins, in each of several
// OpenSearches.

#include "search/opensearch/search_query.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/search_keys.h"
#include "base/status.h"
#include "search/opensearch/document.h"
#include "search/opensearch/document_hits.h"
#include "search/opensearch/sorted_documents.h"

namespace search {
namespace {

// The least that a request asks for when not all that it finds is meant.
constexpr int64_t kMinFiltered = 500;

json::Value Term(absl::string_view field, absl::string_view value) {
  json::Value query = json::Value::Object();
  query.Set({"term", field}, value);
  return query;
}

json::Value Terms(absl::string_view field, const std::vector<std::string>& values) {
  json::Value query = json::Value::Object();
  query.Set({"terms", field}, json::Value::Strings(values));
  return query;
}

// What must hold and what must not.
struct Clauses {
  json::Value filter = json::Value::Array();
  json::Value must_not = json::Value::Array();

  void Add(json::Value query, bool wanted) {
    (wanted ? filter : must_not).Append(std::move(query));
  }
};

void AddLabels(const kube::LabelSelector& selector, Clauses& clauses) {
  using Operator = kube::LabelSelector::Operator;
  if (selector.MatchesNothing()) {
    clauses.Add(json::Value::Object({{"match_all", json::Value::Object()}}), false);
  }
  for (const kube::LabelSelector::Requirement& r : selector.requirements()) {
    const std::string field = absl::StrCat("labels.", r.key);
    switch (r.op) {
      case Operator::kIn:
      case Operator::kNotIn:
        clauses.Add(Terms(field, r.values), r.op == Operator::kIn);
        break;
      case Operator::kExists:
      case Operator::kDoesNotExist:
        clauses.Add(Term("labelKeys", r.key), r.op == Operator::kExists);
        break;
      case Operator::kGreaterThan:
      case Operator::kLessThan:
        clauses.Add(Term("labelKeys", r.key), true);
        break;
    }
  }
}

absl::Status AddField(const kube::FieldSelector::Term& term, Clauses& clauses) {
  std::string field = term.field;
  if (field == api::kClusterField) {
    clauses.Add(Term("cluster", term.value), term.equal);
    return absl::OkStatus();
  }
  if (field == "metadata.name" || field == "metadata.namespace") {
    field = field.substr(absl::string_view("metadata.").size());
  } else if (!absl::StartsWith(field, "spec.") && !absl::StartsWith(field, "status.")) {
    return absl::InvalidArgumentError(absl::StrCat(
        "field label not supported: ", term.field,
        "; metadata.name, metadata.namespace, and fields of spec and status are searchable"));
  }
  if (!term.value.empty() || field == "namespace") {
    clauses.Add(Term(field, term.value), term.equal);
    return absl::OkStatus();
  }
  json::Value exists = json::Value::Object();
  exists.Set({"exists", "field"}, field);
  clauses.Add(std::move(exists), !term.equal);
  return absl::OkStatus();
}

// Where a page begins: after this place, and after so many objects.
struct Position {
  json::Value after;
  int64_t seen = 0;
};

std::string TokenOf(const Position& position) {
  return absl::WebSafeBase64Escape(
      json::Write(json::Value::Object({{"after", position.after}, {"seen", position.seen}})));
}

absl::StatusOr<Position> PositionOf(const std::string& token) {
  if (token.empty()) return Position();
  std::string text;
  if (absl::WebSafeBase64Unescape(token, &text)) {
    const auto parsed = json::Parse(text);
    const json::Value after = parsed.ok() ? (*parsed)["after"] : json::Value();
    if (IsPlace(after) && (*parsed)["seen"].is_int()) {
      return Position{after, (*parsed)["seen"].AsInt()};
    }
  }
  return absl::InvalidArgumentError("continue token: it is not one of a search in OpenSearch");
}

// The operators > and < compare numbers, which labels in OpenSearch are not.
bool ComparesNumbers(const kube::LabelSelector& labels) {
  using Operator = kube::LabelSelector::Operator;
  return std::any_of(labels.requirements().begin(), labels.requirements().end(),
                     [](const kube::LabelSelector::Requirement& r) {
                       return r.op == Operator::kGreaterThan || r.op == Operator::kLessThan;
                     });
}

// One more than the page needs, to see whether another page follows; more where many may be left
// out.
int64_t SizeOfBatch(const DocumentQuery& query, size_t have) {
  if (query.limit == 0) return kMaxHitsAtOnce;
  const int64_t missing = query.limit - static_cast<int64_t>(have) + 1;
  const bool filtered = query.also || ComparesNumbers(query.labels);
  return std::min(kMaxHitsAtOnce, filtered ? std::max(missing, kMinFiltered) : missing);
}

}  // namespace

absl::StatusOr<json::Value> QueryOf(const DocumentQuery& query) {
  Clauses clauses;
  clauses.Add(Term("group", query.kind.group), true);
  clauses.Add(Term("version", query.kind.version), true);
  clauses.Add(Term("kind", query.kind.kind), true);
  if (!query.clusters.empty()) clauses.Add(Terms("cluster", query.clusters), true);
  if (!query.ns.empty()) clauses.Add(Term("namespace", query.ns), true);
  if (!query.name.empty()) clauses.Add(Term("name", query.name), true);
  AddLabels(query.labels, clauses);
  for (const kube::FieldSelector::Term& term : query.fields) {
    RETURN_IF_ERROR(AddField(term, clauses));
  }
  json::Value out = json::Value::Object();
  out.Set({"bool", "filter"}, std::move(clauses.filter));
  if (!clauses.must_not.empty()) out.Set({"bool", "must_not"}, std::move(clauses.must_not));
  return out;
}

bool Means(const DocumentQuery& query, const kube::Object& object) {
  return query.labels.Matches(object.labels()) && (!query.also || query.also(object));
}

absl::StatusOr<DocumentPage> SearchDocuments(const std::vector<OpenSearchClient*>& clients,
                                             absl::string_view index_prefix,
                                             const DocumentQuery& query,
                                             const base::StopToken& stop) {
  if (query.limit < 0) return absl::InvalidArgumentError("limit: it has to be at least 0");
  HitQuery hit_query{.path = absl::StrCat("/", IndexName(index_prefix, query.kind), "/_search"),
                     .deadline = query.deadline,
                     .take = query.take};
  ASSIGN_OR_RETURN(hit_query.query, QueryOf(query));
  if (!query.sort.empty()) {
    MergedHits hits(clients, hit_query, {});
    return SortDocuments(hits, query, stop);
  }
  ASSIGN_OR_RETURN(Position position, PositionOf(query.continue_token));
  MergedHits hits(clients, hit_query, position.after);
  DocumentPage page{.size = std::make_shared<AnswerSize>(query.take)};
  for (;;) {
    ASSIGN_OR_RETURN(const json::Value hit, hits.Take(SizeOfBatch(query, page.items.size()), stop));
    if (hit.is_null()) return page;
    if (query.limit > 0 && static_cast<int64_t>(page.items.size()) == query.limit) break;
    position.after = PlaceOf(hit);
    ++position.seen;
    // Somebody else may have put documents there.
    const auto item = ObjectOfHit(hit);
    if (!item.ok() || !Means(query, *item)) continue;
    page.items.push_back(json::Write(item->root()));
    RETURN_IF_ERROR(page.size->Add(sizeof(std::string) + page.items.back().size()));
  }
  page.remaining = std::max<int64_t>(1, hits.total() - position.seen);
  page.continue_token = TokenOf(position);
  return page;
}

}  // namespace search
