// Reads what queries find in one or several OpenSearches.
#ifndef SEARCH_OPENSEARCH_DOCUMENT_HITS_H_
#define SEARCH_OPENSEARCH_DOCUMENT_HITS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/stop_token.h"
#include "kube/meta/object.h"
#include "search/opensearch/opensearch_client.h"

namespace search {

// OpenSearch's own limit for a page (index.max_result_window) is 10,000.
inline constexpr int64_t kMaxHitsAtOnce = 2000;

// A document's place in the order of hits: its cluster, namespace and name, as in lists of the
// cache; it never changes. In JSON it is a list of three strings.
bool IsPlace(const json::Value& value);
// REQUIRES: IsPlace(b); a is a place or null, which comes before all places.
bool IsPlaceBefore(const json::Value& a, const json::Value& b);

// Returns the place of a hit.
const json::Value& PlaceOf(const json::Value& hit);

// Returns a hit's object, annotated with the cluster that it was cached from. An error for a
// document that is not one of ours.
absl::StatusOr<kube::Object> ObjectOfHit(const json::Value& hit);

// Takes so much memory for as long as what it returns is kept. Its errors end a search. What is
// null takes nothing.
using TakeMemoryFn = std::function<absl::StatusOr<std::shared_ptr<const void>>(size_t bytes)>;

// What is searched for.
struct HitQuery {
  std::string path;  // Of the index.
  json::Value query;
  // kDeadlineExceeded for what has not been answered by then.
  base::SteadyTime deadline = base::SteadyTime::InfiniteFuture();
  TakeMemoryFn take = nullptr;  // For the answers that are being read.
};

// Counts the text of what an answer has, which is held in memory whole, and takes memory for it as
// it grows. Not thread-safe.
class AnswerSize {
 public:
  explicit AnswerSize(TakeMemoryFn take = nullptr) : take_(std::move(take)) {}
  // kInvalidArgument, which asks for a smaller limit, beyond 64 MB of text; the errors of `take`.
  absl::Status Add(size_t bytes);
  void Remove(size_t bytes);

 private:
  TakeMemoryFn take_;
  size_t bytes_ = 0;
  std::vector<std::shared_ptr<const void>> taken_;  // Each for a part of the bytes.
};

// The hits of one OpenSearch, in the order of their places. Where documents are so large that they
// do not fit into one answer, it asks for fewer: answers have a few megabytes at most, unless one
// document has more.
class HitStream {
 public:
  // REQUIRES: client and query outlive the object.
  HitStream(OpenSearchClient& client, const HitQuery& query, json::Value after);

  // Returns whether there is another hit; asks for `size` more if none is left.
  absl::StatusOr<bool> HasNext(int64_t size, const base::StopToken& stop);
  // REQUIRES: HasNext.
  const json::Value& Next() const { return hits_.At(next_); }
  void Pop() { ++next_; }
  // All hits of the query, those before the first one, too.
  int64_t total() const { return total_; }

 private:
  // Replaces hits_ by the next ones.
  absl::Status Fetch(int64_t size, const base::StopToken& stop);
  absl::Status Hold(size_t bytes);
  // Keeps what was found, and learns from it how many more to ask for.
  absl::Status Keep(const OpenSearchAnswer& answer, int64_t asked);
  // After an answer that was too long. Returns whether another one may be short enough.
  bool AskForLess(int64_t asked);

  OpenSearchClient& client_;
  const HitQuery& query_;
  json::Value after_;
  json::Value hits_ = json::Value::Array();
  std::shared_ptr<const void> held_;  // The memory of hits_, or of those that are being read.
  size_t next_ = 0;
  int64_t max_size_;
  size_t max_answer_bytes_;
  int64_t total_ = 0;
  bool finished_ = false;
};

// The hits of all OpenSearches in one order. A document that several have is one hit.
class MergedHits {
 public:
  // `after` is the place before the first hit, null for none.
  // REQUIRES: clients and query outlive the object.
  MergedHits(const std::vector<OpenSearchClient*>& clients, const HitQuery& query,
             const json::Value& after);

  // Returns the next hit, null if there is no other. `size`: how many to ask for when one is
  // needed.
  absl::StatusOr<json::Value> Take(int64_t size, const base::StopToken& stop);
  // How many hits all queries have found; an estimate while several have the same document.
  int64_t total() const;

 private:
  std::vector<HitStream> streams_;
};

}  // namespace search

#endif  // SEARCH_OPENSEARCH_DOCUMENT_HITS_H_
