#include "search/opensearch/slice_places.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "base/status.h"

namespace search {
namespace {

constexpr int kPage = 1000;

json::Value Source(absl::string_view name, absl::string_view field) {
  json::Value source = json::Value::Object();
  source.Set({name, "terms", "field"}, field);
  return source;
}

json::Value PageRequest(const json::Value& after) {
  json::Value body = json::Value::Object({{"size", 0}, {"track_total_hits", false}});
  json::Value composite = json::Value::Object(
      {{"size", kPage},
       {"sources", json::Value::Array({Source("cluster", "cluster"), Source("index", "_index")})}});
  if (!after.is_null()) composite.Set("after", after);
  body.Set({"aggs", "places", "composite"}, std::move(composite));
  return body;
}

}  // namespace

absl::StatusOr<std::vector<SlicePlace>> ReadPlaces(OpenSearchClient& client,
                                                   absl::string_view prefix,
                                                   const base::StopToken& stop) {
  std::vector<SlicePlace> places;
  const std::string indices = absl::StrCat("/", prefix, "-*");
  ASSIGN_OR_RETURN(const OpenSearchAnswer refreshed,
                   client.Send({.method = "POST", .path = indices + "/_refresh"}, stop));
  if (refreshed.code != 404) RETURN_IF_ERROR(StatusOf(refreshed));
  json::Value after;
  do {
    ASSIGN_OR_RETURN(const OpenSearchAnswer answer,
                     client.Send({.method = "POST",
                                  .path = indices + "/_search",
                                  .body = json::Write(PageRequest(after))},
                                 stop));
    if (answer.code == 404) return places;
    RETURN_IF_ERROR(base::Annotate(StatusOf(answer), "POST ", indices, "/_search"));
    const json::Value& page = answer.body.Get({"aggregations", "places"});
    for (const json::Value& bucket : page["buckets"].items()) {
      const json::Value& key = bucket["key"];
      places.emplace_back(key["cluster"].ToString(), key["index"].ToString());
    }
    if (!after.is_null() && page["after_key"] == after) {
      // A server that ignores where a page begins would be asked for ever.
      return absl::UnavailableError("the pages of an aggregation do not advance");
    }
    after = page["after_key"];
  } while (!after.is_null());
  return places;
}

}  // namespace search
