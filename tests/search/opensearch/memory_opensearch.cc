#include "tests/search/opensearch/memory_opensearch.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "tests/search/opensearch/memory_query.h"

namespace tests {
namespace {

base::HttpResponse Json(const json::Value& body, int code = 200) {
  return {.code = code, .body = json::Write(body)};
}

bool MatchesPattern(absl::string_view index, absl::string_view pattern) {
  return absl::ConsumeSuffix(&pattern, "*") ? absl::StartsWith(index, pattern) : index == pattern;
}

}  // namespace

base::HttpResponse ErrorAnswer(int code, absl::string_view type, absl::string_view reason) {
  return Json(
      json::Value::Object(
          {{"status", code}, {"error", json::Value::Object({{"type", type}, {"reason", reason}})}}),
      code);
}

json::Value MemoryOpenSearch::Write(const json::Value& action, const std::string& source) {
  const json::Member& only = action.members()[0];
  const std::string id = only.value["_id"].ToString();
  json::Value result = json::Value::Object({{"status", 200}});
  const auto fail = [&](int status, absl::string_view type, absl::string_view reason) {
    result = json::Value::Object(
        {{"status", status}, {"error", json::Value::Object({{"type", type}, {"reason", reason}})}});
    return json::Value::Object({{only.name(), result}});
  };
  if (refuse) {
    if (const auto refused = refuse(id); refused.has_value()) {
      return fail(refused->first, refused->second, "refused by the test");
    }
  }
  Document& document = indices_[only.value["_index"].ToString()][id];
  const base::SteadyTime now = base::RealClock().SteadyNow();
  const bool forgotten = document.source.is_null() && now - document.written > keeps_deletions;
  if (forgotten) document.version = 0;
  const int64_t version = only.value["version"].AsInt();
  const bool gte = only.value["version_type"].AsString() == "external_gte";
  if (version < document.version || (!gte && version == document.version)) {
    return fail(409, "version_conflict_engine_exception", "current version is higher");
  }
  if (only.name() == "delete" && document.source.is_null()) result.Set("status", 404);
  document.version = version;
  document.written = now;
  document.source = only.name() == "delete" ? json::Value() : json::Parse(source).value();
  return json::Value::Object({{only.name(), result}});
}

base::HttpResponse MemoryOpenSearch::Bulk(const std::string& body) {
  json::Value items = json::Value::Array();
  const std::vector<std::string> lines = absl::StrSplit(body, '\n');
  for (size_t i = 0; i + 1 < lines.size(); ++i) {
    const json::Value action = json::Parse(lines[i]).value();
    const bool index = action.members()[0].name() == "index";
    items.Append(Write(action, index ? lines[++i] : ""));
  }
  return Json(json::Value::Object({{"items", items}}));
}

base::HttpResponse MemoryOpenSearch::Search(const std::string& pattern, const json::Value& body) {
  if (body.Has("aggs")) return Places(pattern);
  const auto index = indices_.find(pattern);
  if (index == indices_.end())
    return ErrorAnswer(404, "index_not_found_exception", "no such index");
  std::map<std::vector<std::string>, const Document*> found;  // By the fields to sort by.
  for (const auto& [id, document] : index->second) {
    if (document.source.is_null() || !IsFound(body["query"], document.source)) continue;
    std::vector<std::string> place;
    for (const json::Value& field : body["sort"].items()) {
      const std::vector<std::string> texts = TextsAt(document.source, field.members()[0].name());
      place.push_back(texts.empty() ? "" : texts[0]);
    }
    if (place.empty()) place.push_back(id);
    found[place] = &document;
  }
  std::vector<std::string> after;
  for (const json::Value& part : body["search_after"].items()) after.push_back(part.ToString());
  json::Value hits = json::Value::Array();
  for (const auto& [place, document] : found) {
    if (static_cast<int64_t>(hits.size()) == body["size"].AsInt()) break;
    if (!after.empty() && place <= after) continue;
    hits.Append(json::Value::Object({{"_version", document->version},
                                     {"_source", document->source},
                                     {"sort", json::Value::Strings(place)}}));
  }
  json::Value answer = json::Value::Object();
  answer.Set({"hits", "hits"}, hits);
  answer.Set({"hits", "total", "value"}, static_cast<int64_t>(found.size()));
  return Json(answer);
}

base::HttpResponse MemoryOpenSearch::Places(const std::string& pattern) {
  std::map<std::pair<std::string, std::string>, int> places;
  for (const auto& [name, index] : indices_) {
    if (!MatchesPattern(name, pattern)) continue;
    for (const auto& [id, document] : index) {
      if (!document.source.is_null()) ++places[{document.source["cluster"].ToString(), name}];
    }
  }
  json::Value buckets = json::Value::Array();
  for (const auto& [place, count] : places) {
    buckets.Append(json::Value::Object(
        {{"key", json::Value::Object({{"cluster", place.first}, {"index", place.second}})}}));
  }
  json::Value answer = json::Value::Object();
  answer.Set({"aggregations", "places", "buckets"}, buckets);
  return Json(answer);
}

base::HttpResponse MemoryOpenSearch::Get(const std::string& index, const std::string& id) {
  const auto found = indices_[index].find(id);
  if (found == indices_[index].end() || found->second.source.is_null()) {
    return Json(json::Value::Object({{"found", false}}), 404);
  }
  return Json(json::Value::Object(
      {{"found", true}, {"_version", found->second.version}, {"_source", found->second.source}}));
}

std::vector<json::Value> MemoryOpenSearch::Documents(const std::string& index) const {
  std::vector<json::Value> documents;
  const auto found = indices_.find(index);
  if (found == indices_.end()) return documents;
  for (const auto& [id, document] : found->second) {
    if (!document.source.is_null()) documents.push_back(document.source);
  }
  return documents;
}

base::HttpResponse MemoryOpenSearch::Answer(const base::HttpRequest& request) {
  if (request.path == "/") {
    json::Value info = json::Value::Object();
    info.Set({"version", "distribution"}, distribution);
    info.Set({"version", "number"}, "2.19.1");
    info.Set("cluster_uuid", cluster_uuid);
    return Json(info);
  }
  if (request.path == "/_bulk") return Bulk(request.body);
  const std::vector<std::string> parts = absl::StrSplit(request.path, absl::MaxSplits('/', 3));
  if (parts[1] == "_index_template") {
    const bool creates = absl::StrContains(request.target, "create=true");
    if (request.method == "PUT" && creates && !template_.is_null()) {
      return ErrorAnswer(400, "illegal_argument_exception", "index template already exists");
    }
    if (request.method == "PUT") template_ = json::Parse(request.body).value();
    if (template_.is_null()) return ErrorAnswer(404, "resource_not_found_exception", "no template");
    json::Value one = json::Value::Object({{"index_template", template_}});
    return Json(json::Value::Object({{"index_templates", json::Value::Array({one})}}));
  }
  const std::string action = parts.size() > 2 ? parts[2] : "";
  if (action == "_search") return Search(parts[1], json::Parse(request.body).value());
  if (action == "_doc") return Get(parts[1], parts[3]);
  if (action.empty() && request.method == "PUT") indices_[parts[1]];
  if (action.empty() && request.method == "DELETE") indices_.erase(parts[1]);
  return Json(json::Value::Object({{"acknowledged", true}}));
}

}  // namespace tests
