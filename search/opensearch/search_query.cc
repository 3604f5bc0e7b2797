// An object's place in the order of a list is (cluster, namespace, name), as in lists of the cache;
// it never changes. The continue token is the place after which the next page begins, in each of
// several OpenSearches.
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

namespace search {
namespace {

// OpenSearch's own limit for a page (index.max_result_window) is 10,000.
constexpr int64_t kMaxPage = 2000;
// The least that a request asks for when not all that it finds is meant.
constexpr int64_t kMinFiltered = 500;
constexpr absl::string_view kPlace[] = {"cluster", "namespace", "name"};

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

json::Value Sort() {
  json::Value sort = json::Value::Array();
  for (const absl::string_view field : kPlace) {
    sort.Append(json::Value::Object({{field, "asc"}}));
  }
  return sort;
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
    const bool good = after.size() == std::size(kPlace) && (*parsed)["seen"].is_int() &&
                      std::all_of(after.items().begin(), after.items().end(),
                                  [](const json::Value& part) { return part.is_string(); });
    if (good) return Position{after, (*parsed)["seen"].AsInt()};
  }
  return absl::InvalidArgumentError("continue token: it is not one of a search in OpenSearch");
}

absl::StatusOr<kube::Object> ItemOf(const json::Value& hit) {
  const json::Value& document = hit["_source"];
  ASSIGN_OR_RETURN(kube::Object object, ObjectOf(document));
  object.SetAnnotation(api::kCachedFromClusterAnnotation, document["cluster"].AsString());
  return object;
}

absl::StatusOr<json::Value> FetchHits(OpenSearchClient& client, const std::string& path,
                                      json::Value body, const base::StopToken& stop) {
  ASSIGN_OR_RETURN(const OpenSearchAnswer answer,
                   client.Send({.method = "POST", .path = path, .body = json::Write(body)}, stop));
  if (answer.code == 404) return json::Value::Object();
  RETURN_IF_ERROR(base::Annotate(StatusOf(answer), "POST ", path));
  const json::Value& shards = answer.body["_shards"];
  if (answer.body["timed_out"].AsBool() || shards["failed"].AsInt() > 0) {
    return absl::UnavailableError("the search did not reach all shards");
  }
  return answer.body["hits"];
}

json::Value PageBody(const json::Value& query, int64_t size, const json::Value& after) {
  json::Value body = json::Value::Object(
      {{"query", query}, {"size", size}, {"sort", Sort()}, {"track_total_hits", true}});
  if (!after.is_null()) body.Set("search_after", after);
  return body;
}

// Compares places as Sort() orders them.
bool IsBefore(const json::Value& a, const json::Value& b) {
  for (size_t i = 0; i < std::size(kPlace); ++i) {
    const int order = a.At(i).AsString().compare(b.At(i).AsString());
    if (order != 0) return order < 0;
  }
  return false;
}

// The hits of one OpenSearch, in their order.
class HitStream {
 public:
  HitStream(OpenSearchClient& client, std::string path, const json::Value& query, json::Value after)
      : client_(client), path_(std::move(path)), query_(query), after_(std::move(after)) {}

  // Returns whether there is another hit; asks for `size` more if none is left.
  absl::StatusOr<bool> HasNext(int64_t size, const base::StopToken& stop) {
    if (next_ < hits_.size()) return true;
    if (finished_) return false;
    ASSIGN_OR_RETURN(const json::Value found,
                     FetchHits(client_, path_, PageBody(query_, size, after_), stop));
    hits_ = found["hits"];
    next_ = 0;
    total_ = found.Get({"total", "value"}).AsInt();
    finished_ = static_cast<int64_t>(hits_.size()) < size;
    if (hits_.empty()) return false;
    // Without progress there would be pages for ever.
    const json::Value& last = hits_.At(hits_.size() - 1)["sort"];
    if (!IsBefore(after_, last)) {
      return absl::UnavailableError(
          "OpenSearch's answer to a search has a page for the second time");
    }
    after_ = last;
    return true;
  }
  const json::Value& Next() const { return hits_.At(next_); }
  void Pop() { ++next_; }
  // All hits of the query, those before the first one, too.
  int64_t total() const { return total_; }

 private:
  OpenSearchClient& client_;
  const std::string path_;
  const json::Value& query_;
  json::Value after_;
  json::Value hits_ = json::Value::Array();
  size_t next_ = 0;
  int64_t total_ = 0;
  bool finished_ = false;
};

// The operators > and < compare numbers, which labels in OpenSearch are not.
bool ComparesNumbers(const kube::LabelSelector& labels) {
  using Operator = kube::LabelSelector::Operator;
  return std::any_of(labels.requirements().begin(), labels.requirements().end(),
                     [](const kube::LabelSelector::Requirement& r) {
                       return r.op == Operator::kGreaterThan || r.op == Operator::kLessThan;
                     });
}

// What OpenSearch finds and the query does not mean.
bool IsMeant(const kube::Object& object, const DocumentQuery& query) {
  return query.labels.Matches(object.labels()) && (!query.also || query.also(object));
}

// The hits of all OpenSearches in one order. A document that several have is one hit.
class MergedHits {
 public:
  MergedHits(const std::vector<OpenSearchClient*>& clients, const std::string& path,
             const json::Value& query, const json::Value& after) {
    for (OpenSearchClient* client : clients) streams_.emplace_back(*client, path, query, after);
  }

  // Returns the next hit, a null value at the end.
  absl::StatusOr<json::Value> Take(int64_t size, const base::StopToken& stop) {
    json::Value first;
    for (HitStream& stream : streams_) {
      ASSIGN_OR_RETURN(const bool more, stream.HasNext(size, stop));
      if (more && (first.is_null() || IsBefore(stream.Next()["sort"], first["sort"]))) {
        first = stream.Next();
      }
    }
    if (first.is_null()) return first;
    for (HitStream& stream : streams_) {
      ASSIGN_OR_RETURN(const bool more, stream.HasNext(size, stop));
      if (more && !IsBefore(first["sort"], stream.Next()["sort"])) stream.Pop();
    }
    return first;
  }
  int64_t total() const {
    int64_t total = 0;
    for (const HitStream& stream : streams_) total += stream.total();
    return total;
  }

 private:
  std::vector<HitStream> streams_;
};

// One more than the page needs, to see whether another page follows; more where many may be left
// out.
int64_t SizeOfBatch(const DocumentQuery& query, size_t have) {
  if (query.limit == 0) return kMaxPage;
  const int64_t missing = query.limit - static_cast<int64_t>(have) + 1;
  const bool filtered = query.also || ComparesNumbers(query.labels);
  return std::min(kMaxPage, filtered ? std::max(missing, kMinFiltered) : missing);
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

absl::StatusOr<DocumentPage> SearchDocuments(const std::vector<OpenSearchClient*>& clients,
                                             absl::string_view index_prefix,
                                             const DocumentQuery& query,
                                             const base::StopToken& stop) {
  if (query.limit < 0) return absl::InvalidArgumentError("limit: it has to be at least 0");
  ASSIGN_OR_RETURN(const json::Value filter, QueryOf(query));
  ASSIGN_OR_RETURN(Position position, PositionOf(query.continue_token));
  const std::string path = absl::StrCat("/", IndexName(index_prefix, query.kind), "/_search");
  MergedHits hits(clients, path, filter, position.after);
  DocumentPage page;
  for (;;) {
    ASSIGN_OR_RETURN(const json::Value hit, hits.Take(SizeOfBatch(query, page.items.size()), stop));
    if (hit.is_null()) return page;
    if (query.limit > 0 && static_cast<int64_t>(page.items.size()) == query.limit) break;
    position.after = hit["sort"];
    ++position.seen;
    // Somebody else may have put documents there.
    auto item = ItemOf(hit);
    if (item.ok() && IsMeant(*item, query)) page.items.push_back(*std::move(item));
  }
  page.remaining = std::max<int64_t>(1, hits.total() - position.seen);
  page.continue_token = TokenOf(position);
  return page;
}

}  // namespace search
