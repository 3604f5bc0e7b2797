// Splits the body of a watch into its events.
//
//   WatchDecoder decoder;
//   RETURN_IF_ERROR(decoder.Feed(bytes, [&](absl::string_view line) { ... }));
//   ... at the end of the body:
//   RETURN_IF_ERROR(decoder.Finish());
//
// API servers write one JSON text per line; bytes arrive in arbitrary pieces.
#ifndef KUBE_CLIENT_INTERNAL_WATCH_DECODER_H_
#define KUBE_CLIENT_INTERNAL_WATCH_DECODER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/byte_budget.h"
#include "base/json.h"
#include "base/json_fields.h"

namespace kube {

// Not thread-safe.
class WatchDecoder {
 public:
  static constexpr size_t kMaxLineBytes = 16 << 20;
  // The default exceeds the largest object that an API server stores, which is a few MB. Unfinished
  // lines are charged to the budget, if there is one.
  explicit WatchDecoder(size_t max_line_bytes = kMaxLineBytes,
                        std::shared_ptr<base::ByteBudget> budget = nullptr)
      : max_line_bytes_(max_line_bytes), charge_(std::move(budget)) {}

  // Calls `on_line` for every line that `bytes` completes, without its end; empty lines are left
  // out. The view is valid only during the call. A line that is complete inside `bytes` is not
  // copied. kResourceExhausted when a line is too long, or is not complete and exceeds the budget;
  // an error of `on_line` stops the decoding and is returned. After an error no more bytes may be
  // fed.
  absl::Status Feed(absl::string_view bytes,
                    absl::FunctionRef<absl::Status(absl::string_view line)> on_line);

  // kUnavailable when the body ended inside a line.
  absl::Status Finish() const;

  // Returns how many lines have been completed, and whether another one has begun.
  int64_t lines() const { return lines_; }
  bool is_inside_line() const { return !partial_.empty(); }

 private:
  absl::Status Refuse(absl::string_view why);
  absl::Status FeedLine(absl::string_view line,
                        absl::FunctionRef<absl::Status(absl::string_view)> on_line);

  const size_t max_line_bytes_;
  std::string partial_;              // The beginning of a line that is not complete yet.
  base::ByteBudget::Charge charge_;  // For partial_.
  int64_t lines_ = 0;
  absl::Status failed_;
};

struct WatchEvent {
  enum class Type { kAdded, kModified, kDeleted, kBookmark, kError };
  Type type;
  json::Value object;  // For kError a v1 Status.
};
// kInvalidArgument unless the text is {"type": <known>, "object": {...}}. `wanted` selects the
// fields that are read ("object.metadata"); nullptr: all. Errors are always read whole.
absl::StatusOr<WatchEvent> ParseWatchEvent(absl::string_view line,
                                           const json::Fields* wanted = nullptr);

// Returns the resourceVersion of an ADDED or MODIFIED event without parsing the rest of the text:
// enough to recognise a known state. Empty when the event is of another type, or its text has an
// unusual form (spaces, escapes), which only ParseWatchEvent can read. The result for malformed
// text is unspecified.
absl::string_view VersionOfStateEvent(absl::string_view line);

}  // namespace kube

#endif  // KUBE_CLIENT_INTERNAL_WATCH_DECODER_H_
