// The documents of one cluster in an index are read in the order of their uids. A uid never
// changes, so a page that begins after the last uid of the page before misses no document that was
// there all the time, although pages are not of one snapshot.
//
// A document that the snapshot lacks is an orphan if its version is one that the snapshot knows
// (at most known_version). If it is greater, the object may be newer than our cache.
//
// Versions went back when a document has a greater version than our object, although our cache has
// seen everything up to that version: in this history the object was not changed then.

#include "search/opensearch/slice_comparison.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "base/status.h"
#include "search/opensearch/document.h"

namespace search {
namespace {

json::Value PageRequest(absl::string_view cluster, int64_t page_size, const std::string& after) {
  json::Value body = json::Value::Object(
      {{"size", page_size}, {"_source", false}, {"version", true}, {"track_total_hits", false}});
  json::Value of_cluster = json::Value::Object();
  of_cluster.Set({"term", "cluster"}, cluster);
  // Documents that others have put there may lack it.
  json::Value with_uid = json::Value::Object();
  with_uid.Set({"exists", "field"}, "uid");
  body.Set({"query", "bool", "filter"}, json::Value::Array({of_cluster, with_uid}));
  body.Set("sort", json::Value::Array({json::Value::Object({{"uid", "asc"}})}));
  if (!after.empty()) body.Set("search_after", json::Value::Array({after}));
  return body;
}

bool IsMissingIndex(const OpenSearchAnswer& answer) { return answer.code == 404; }

// Returns whether there may be another page.
absl::StatusOr<bool> AppendPage(const OpenSearchAnswer& answer, int64_t page_size,
                                std::vector<StoredDocument>& stored) {
  if (IsMissingIndex(answer)) return false;
  RETURN_IF_ERROR(StatusOf(answer));
  if (answer.body["timed_out"].AsBool() || answer.body.Get({"_shards", "failed"}).AsInt() > 0) {
    // It is about this index; others may be whole.
    return absl::FailedPreconditionError("the search did not reach all shards");
  }
  if (!answer.body.Get({"hits", "hits"}).is_array()) {
    return absl::UnavailableError("the answer to a search has no hits");
  }
  const auto hits = answer.body.Get({"hits", "hits"}).items();
  const std::string last = stored.empty() ? "" : stored.back().uid;
  for (const json::Value& hit : hits) {
    const std::string uid = hit["sort"].At(0).ToString();
    if (uid.empty() || !hit["_version"].is_int()) {
      return absl::UnavailableError("a document without uid or version");
    }
    // Otherwise a server that ignores search_after would be asked for ever.
    if (uid <= last) return absl::UnavailableError("the pages of a search do not advance");
    stored.push_back({uid, DocumentVersion::Decode(hit["_version"].AsInt())});
  }
  return static_cast<int64_t>(hits.size()) == page_size;
}

using ByUid = absl::flat_hash_map<absl::string_view, const StoredDocument*>;

// Whether the object, as our cache has it, contradicts the document: see above.
bool WentBack(const SliceSnapshot& snapshot, const MirroredObject& object,
              const StoredDocument& document) {
  return object.resource_version > 0 &&
         document.version.resource_version > object.resource_version &&
         document.version.resource_version <= snapshot.known_version;
}

int64_t EpochOf(const SliceSnapshot& snapshot, const ByUid& by_uid, int64_t epoch) {
  for (const auto& [uid, document] : by_uid) epoch = std::max(epoch, document->version.epoch);
  for (const MirroredObject& object : snapshot.objects) {
    const auto found = by_uid.find(object.uid);
    if (found == by_uid.end() || found->second->version.epoch < epoch) continue;
    if (WentBack(snapshot, object, *found->second)) return NextEpoch(epoch);
  }
  return epoch;
}

// Whether the document is at least what would be written now.
bool IsCurrent(const StoredDocument& document, const MirroredObject& object, int64_t epoch) {
  const DocumentVersion& have = document.version;
  if (have.epoch != epoch || object.resource_version <= 0) return false;
  if (have.resource_version != object.resource_version) {
    return have.resource_version > object.resource_version;
  }
  return have.schema >= kDocumentSchema;
}

}  // namespace

int64_t NextEpoch(int64_t epoch) { return std::min(epoch + 1, DocumentVersion::kMaxEpoch); }

absl::StatusOr<std::vector<StoredDocument>> ReadStored(OpenSearchClient& client,
                                                       absl::string_view index,
                                                       absl::string_view cluster, int64_t page_size,
                                                       const base::StopToken& stop) {
  std::vector<StoredDocument> stored;
  const std::string refresh = absl::StrCat("/", index, "/_refresh");
  ASSIGN_OR_RETURN(const OpenSearchAnswer refreshed,
                   client.Send({.method = "POST", .path = refresh}, stop));
  if (IsMissingIndex(refreshed)) return stored;
  RETURN_IF_ERROR(base::Annotate(StatusOf(refreshed), "POST ", refresh));
  const std::string path = absl::StrCat("/", index, "/_search");
  for (bool more = true; more;) {
    const std::string after = stored.empty() ? "" : stored.back().uid;
    ASSIGN_OR_RETURN(const OpenSearchAnswer answer,
                     client.Send({.method = "POST",
                                  .path = path,
                                  .body = json::Write(PageRequest(cluster, page_size, after))},
                                 stop));
    auto page = AppendPage(answer, page_size, stored);
    if (!page.ok()) return base::Annotate(page.status(), "POST ", path);
    more = *page;
  }
  return stored;
}

SliceDifference CompareSlice(const SliceSnapshot& snapshot,
                             const std::vector<StoredDocument>& stored, int64_t epoch) {
  ByUid by_uid;
  by_uid.reserve(stored.size());
  for (const StoredDocument& document : stored) by_uid.emplace(document.uid, &document);
  SliceDifference out;
  out.epoch = EpochOf(snapshot, by_uid, epoch);
  for (const MirroredObject& object : snapshot.objects) {
    if (object.uid.empty()) continue;
    const auto found = by_uid.find(object.uid);
    if (found == by_uid.end() || !IsCurrent(*found->second, object, out.epoch)) {
      out.to_write.push_back(&object);
    } else {
      const int64_t version = found->second->version.resource_version;
      if (version > snapshot.known_version) out.ahead = std::max(out.ahead, version);
    }
    if (found != by_uid.end()) by_uid.erase(found);
  }
  for (const StoredDocument& document : stored) {
    if (!by_uid.contains(document.uid)) continue;
    const DocumentVersion& version = document.version;
    if (version.epoch == out.epoch && version.resource_version > snapshot.known_version) {
      out.ahead = std::max(out.ahead, version.resource_version);
    } else {
      out.to_delete.push_back(&document);
    }
  }
  return out;
}

}  // namespace search
