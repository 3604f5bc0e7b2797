// Many writes as one request, and what became of each.
#ifndef SEARCH_OPENSEARCH_BULK_H_
#define SEARCH_OPENSEARCH_BULK_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/json.h"

namespace search {

struct BulkWrite {
  std::string index, id;
  int64_t version = 0;
  // Whether the write wins over a document of the same version.
  bool also_equal = false;
  std::string document;  // "" deletes.
};

// The body of a bulk request: two lines for a document, one for a deletion.
class BulkRequest {
 public:
  void Add(const BulkWrite& write);
  size_t size() const { return size_; }
  const std::string& body() const { return body_; }
  // Asks for no more of the answer than ReadBulkAnswer needs.
  static constexpr char kPath[] = "/_bulk?filter_path=errors,items.*.status,items.*.error";
  static constexpr char kContentType[] = "application/x-ndjson";

 private:
  size_t size_ = 0;
  std::string body_;
};

enum class WriteOutcome {
  kDone,
  kConflict,  // The document is as new, or newer.
  kRetry,     // Overload, a fault or a block that may pass, missing rights.
  kRefused,   // The same write would be refused again.
};

struct WriteResult {
  WriteOutcome outcome = WriteOutcome::kDone;
  std::string reason;  // Type and text of the error; "" when done.
  // Of kRetry: OpenSearch has more to do than it can, so that other writes have to wait, too.
  bool overloaded = false;
  // Of a conflict: the version that the document has, if OpenSearch names it; else -1.
  int64_t current_version = -1;
};

// Returns what became of each write, in the order of the request. kUnavailable when the answer is
// not one to so many writes: then any of them may have been executed.
absl::StatusOr<std::vector<WriteResult>> ReadBulkAnswer(const json::Value& answer, size_t writes);

}  // namespace search

#endif  // SEARCH_OPENSEARCH_BULK_H_
