// A query is read page by page in one total order (cluster, namespace, name), each page after the
// last place of the one before (search_after). So nothing is kept in OpenSearch between pages, and
// a reader may go on at a place at any later time, also with another replica; documents that are
// written meanwhile may or may not be seen. MergedHits takes the least place of all streams and
// skips that place in every stream, so that a document which several OpenSearches have is one hit.
//
// An answer takes several times its text in memory until its hits have been taken. So it may have
// four megabytes: a stream asks for as many hits as fit, judging by those that it has read. What
// turns out too long is asked for again with a quarter of the hits, and one hit that is longer with
// twice as many bytes. Memory is taken before each request for the longest answer, and afterwards
// for the one that came. A search that did not reach all shards is an error rather than a
// shorter answer, because nothing would show that hits are missing.

#include "search/opensearch/document_hits.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "api/search_keys.h"
#include "base/json_size.h"
#include "base/status.h"
#include "search/opensearch/document.h"

namespace search {
namespace {

// For each request to each address.
constexpr absl::Duration kPatience = absl::Seconds(15);
constexpr size_t kMaxAnswerMegabytes = 64;
constexpr size_t kUsualAnswerBytes = 4 << 20;
// Before anything is known of the documents: pages of kubectl, which have 500 objects, fit in.
constexpr int64_t kFirstHits = 512;
// Text and values of an answer whose values have not been counted.
constexpr size_t kMemoryOfText = 2;
// What AnswerSize takes at once.
constexpr size_t kSizeStep = 128 << 10;
constexpr absl::string_view kPlace[] = {"cluster", "namespace", "name"};

json::Value OrderOfPlaces() {
  json::Value sort = json::Value::Array();
  for (const absl::string_view field : kPlace) {
    sort.Append(json::Value::Object({{field, "asc"}}));
  }
  return sort;
}

// A missing index has an answer without hits.
absl::StatusOr<OpenSearchAnswer> Ask(OpenSearchClient& client, const HitQuery& query,
                                     const json::Value& body, size_t max_bytes,
                                     const base::StopToken& stop) {
  ASSIGN_OR_RETURN(OpenSearchAnswer answer, client.Send({.method = "POST",
                                                         .path = query.path,
                                                         .body = json::Write(body),
                                                         .max_answer_bytes = max_bytes,
                                                         .timeout = kPatience,
                                                         .deadline = query.deadline},
                                                        stop));
  if (answer.code == 404) return OpenSearchAnswer();
  RETURN_IF_ERROR(base::Annotate(StatusOf(answer), "POST ", query.path));
  const json::Value& shards = answer.body["_shards"];
  if (answer.body["timed_out"].AsBool() || shards["failed"].AsInt() > 0) {
    return absl::UnavailableError("the search did not reach all shards");
  }
  return answer;
}

json::Value PageBody(const json::Value& query, int64_t size, const json::Value& after) {
  json::Value body = json::Value::Object(
      {{"query", query}, {"size", size}, {"sort", OrderOfPlaces()}, {"track_total_hits", true}});
  if (!after.is_null()) body.Set("search_after", after);
  return body;
}

}  // namespace

bool IsPlace(const json::Value& value) {
  return value.size() == std::size(kPlace) &&
         std::all_of(value.items().begin(), value.items().end(),
                     [](const json::Value& part) { return part.is_string(); });
}

bool IsPlaceBefore(const json::Value& a, const json::Value& b) {
  for (size_t i = 0; i < std::size(kPlace); ++i) {
    const int order = a.At(i).AsString().compare(b.At(i).AsString());
    if (order != 0) return order < 0;
  }
  return false;
}

const json::Value& PlaceOf(const json::Value& hit) { return hit["sort"]; }

absl::StatusOr<kube::Object> ObjectOfHit(const json::Value& hit) {
  const json::Value& document = hit["_source"];
  ASSIGN_OR_RETURN(kube::Object object, ObjectOf(document));
  object.SetAnnotation(api::kCachedFromClusterAnnotation, document["cluster"].AsString());
  return object;
}

absl::Status AnswerSize::Add(size_t bytes) {
  bytes_ += bytes;
  if (bytes_ > kMaxAnswerMegabytes << 20) {
    return absl::InvalidArgumentError(
        absl::StrCat("limit: the answer would have more than ", kMaxAnswerMegabytes,
                     " MB; set a smaller limit, and read page by page"));
  }
  while (take_ != nullptr && taken_.size() * kSizeStep < bytes_) {
    ASSIGN_OR_RETURN(auto taken, take_(kSizeStep));
    taken_.push_back(std::move(taken));
  }
  return absl::OkStatus();
}

void AnswerSize::Remove(size_t bytes) {
  bytes_ -= bytes;
  // One more than is needed, so that a list which only just needs it does not take it again and
  // again.
  const size_t needed = bytes_ / kSizeStep + 2;
  if (taken_.size() > needed) taken_.resize(needed);
}

HitStream::HitStream(OpenSearchClient& client, const HitQuery& query, json::Value after)
    : client_(client),
      query_(query),
      after_(std::move(after)),
      max_size_(kFirstHits),
      max_answer_bytes_(kUsualAnswerBytes) {}

absl::Status HitStream::Hold(size_t bytes) {
  held_ = nullptr;
  if (query_.take == nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(held_, query_.take(bytes));
  return absl::OkStatus();
}

bool HitStream::AskForLess(int64_t asked) {
  if (asked > 1) {
    max_size_ = std::max<int64_t>(asked / 4, 1);
    return true;
  }
  if (max_answer_bytes_ >= kMaxOpenSearchAnswer) return false;
  max_answer_bytes_ *= 2;
  return true;
}

absl::Status HitStream::Keep(const OpenSearchAnswer& answer, int64_t asked) {
  const json::Value& found = answer.body["hits"];
  hits_ = found["hits"];
  next_ = 0;
  total_ = found.Get({"total", "value"}).AsInt();
  const auto count = static_cast<int64_t>(hits_.size());
  // Fewer hits than asked for: there are no further ones.
  finished_ = count < asked;
  if (count > 0) {
    const auto fit = static_cast<int64_t>(kUsualAnswerBytes / 4 * 3) * count /
                     static_cast<int64_t>(std::max<size_t>(answer.bytes, 1));
    max_size_ = std::clamp<int64_t>(fit, 1, kMaxHitsAtOnce);
  }
  return Hold(json::MemoryOf(hits_));
}

absl::Status HitStream::Fetch(int64_t size, const base::StopToken& stop) {
  hits_ = json::Value::Array();
  for (;;) {
    RETURN_IF_ERROR(Hold(max_answer_bytes_ * kMemoryOfText));
    const int64_t asked = std::min(size, max_size_);
    const auto answer =
        Ask(client_, query_, PageBody(query_.query, asked, after_), max_answer_bytes_, stop);
    // The client refuses answers of more than its limit with kOutOfRange.
    if (absl::IsOutOfRange(answer.status()) && AskForLess(asked)) continue;
    RETURN_IF_ERROR(answer.status());
    return Keep(*answer, asked);
  }
}

absl::StatusOr<bool> HitStream::HasNext(int64_t size, const base::StopToken& stop) {
  if (next_ < hits_.size()) return true;
  if (finished_) return false;
  RETURN_IF_ERROR(Fetch(size, stop));
  if (hits_.empty()) return false;
  // Without progress there would be pages for ever.
  const json::Value& last = PlaceOf(hits_.At(hits_.size() - 1));
  if (!IsPlaceBefore(after_, last)) {
    return absl::UnavailableError("OpenSearch returned the same page of a search twice");
  }
  after_ = last;
  return true;
}

MergedHits::MergedHits(const std::vector<OpenSearchClient*>& clients, const HitQuery& query,
                       const json::Value& after) {
  for (OpenSearchClient* client : clients) streams_.emplace_back(*client, query, after);
}

absl::StatusOr<json::Value> MergedHits::Take(int64_t size, const base::StopToken& stop) {
  json::Value first;
  for (HitStream& stream : streams_) {
    ASSIGN_OR_RETURN(const bool more, stream.HasNext(size, stop));
    if (!more) continue;
    if (first.is_null() || IsPlaceBefore(PlaceOf(stream.Next()), PlaceOf(first))) {
      first = stream.Next();
    }
  }
  if (first.is_null()) return first;
  for (HitStream& stream : streams_) {
    ASSIGN_OR_RETURN(const bool more, stream.HasNext(size, stop));
    // No stream is before the first place, so whoever is not behind it is at it.
    if (more && !IsPlaceBefore(PlaceOf(first), PlaceOf(stream.Next()))) stream.Pop();
  }
  return first;
}

int64_t MergedHits::total() const {
  int64_t total = 0;
  for (const HitStream& stream : streams_) total += stream.total();
  return total;
}

}  // namespace search
