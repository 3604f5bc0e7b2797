// Splits a watch into lines, each of which is one event. Bytes are passed on without a copy as long
// as an event lies within one piece; only an event that is split is collected in partial_, which is
// charged to a budget of memory and limited in length. After a refusal or an error of a line
// nothing more is decoded (failed_).

#include "kube/client/internal/watch_decoder.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace kube {
namespace {

// How much memory the buffer for split lines keeps; each of hundreds of watches has one.
constexpr size_t kKeptCapacity = 64 << 10;

constexpr absl::string_view kManagedFields[] = {"object", "metadata", "managedFields"};

std::optional<WatchEvent::Type> TypeNamed(absl::string_view name) {
  if (name == "ADDED") return WatchEvent::Type::kAdded;
  if (name == "MODIFIED") return WatchEvent::Type::kModified;
  if (name == "DELETED") return WatchEvent::Type::kDeleted;
  if (name == "BOOKMARK") return WatchEvent::Type::kBookmark;
  if (name == "ERROR") return WatchEvent::Type::kError;
  return std::nullopt;
}

}  // namespace

absl::Status WatchDecoder::Feed(absl::string_view bytes,
                                absl::FunctionRef<absl::Status(absl::string_view)> on_line) {
  RETURN_IF_ERROR(failed_);
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    const absl::string_view piece = bytes.substr(0, end);
    if (partial_.size() + piece.size() > max_line_bytes_) {
      return Refuse(absl::StrCat("a watch event is longer than ", max_line_bytes_, " bytes"));
    }
    if (end == absl::string_view::npos) {
      absl::StrAppend(&partial_, piece);
      charge_.Resize(partial_.size());
      if (!charge_.IsOver()) return absl::OkStatus();
      return Refuse("there is no memory left for an event that the watch has begun");
    }
    ++lines_;
    bytes.remove_prefix(end + 1);
    failed_ = FeedLine(piece, on_line);
    RETURN_IF_ERROR(failed_);
  }
  return absl::OkStatus();
}

absl::Status WatchDecoder::Refuse(absl::string_view why) {
  std::string().swap(partial_);
  charge_.Resize(0);
  failed_ = absl::ResourceExhaustedError(why);
  return failed_;
}

absl::Status WatchDecoder::FeedLine(absl::string_view line,
                                    absl::FunctionRef<absl::Status(absl::string_view)> on_line) {
  if (partial_.empty()) return line.empty() ? absl::OkStatus() : on_line(line);
  absl::StrAppend(&partial_, line);
  const absl::Status status = on_line(partial_);
  partial_.clear();
  charge_.Resize(0);
  if (partial_.capacity() > kKeptCapacity) partial_.shrink_to_fit();
  return status;
}

absl::Status WatchDecoder::Finish() const {
  RETURN_IF_ERROR(failed_);
  if (partial_.empty()) return absl::OkStatus();
  return absl::UnavailableError("the watch ended inside an event");
}

absl::StatusOr<WatchEvent> ParseWatchEvent(absl::string_view line, const json::Fields* wanted) {
  ASSIGN_OR_RETURN(json::Value event,
                   json::Parse(line, {.dropped = kManagedFields, .kept = wanted}));
  const auto type = TypeNamed(event["type"].AsString());
  if (!type.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("unknown watch event type \"", event["type"].AsString(), "\""));
  }
  // The fields that are wanted of objects are not those of a Status, so it is parsed again with
  // all.
  if (*type == WatchEvent::Type::kError && wanted != nullptr) return ParseWatchEvent(line);
  json::Value& object = event.Mutable("object");
  if (!object.is_object()) {
    return absl::InvalidArgumentError("a watch event carries no object");
  }
  return WatchEvent{*type, std::move(object)};
}

}  // namespace kube
