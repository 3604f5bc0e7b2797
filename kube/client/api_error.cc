// Turns an answer that is not a success into an absl::Status. The code of the status says what a
// caller can do (again with a newer object, later, never), the message is the server's, and what
// else callers ask for travels as payloads: the HTTP code with its reason and Retry-After
// (FailureOf), and marks for the few cases in which code and reason do not tell enough. Texts of
// servers are cut, because they are kept in conditions and logs.

#include "kube/client/api_error.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/cut_text.h"
#include "base/status.h"

namespace kube {
namespace {

constexpr absl::string_view kFailurePayload = "type.kube/api-failure";
constexpr absl::string_view kNamesObjectPayload = "type.kube/names-object";
constexpr absl::string_view kFieldConflictPayload = "type.kube/field-conflict";
constexpr absl::string_view kWithoutStatusPayload = "type.kube/without-status";
constexpr absl::string_view kRestPayload = "type.kube/token-for-rest";
constexpr absl::string_view kWebhookDenial = "admission webhook ";
constexpr size_t kQuotedBodyBytes = 200;
// Messages of servers are written into logs, events and conditions, and are remembered to recognise
// repetitions.
constexpr size_t kMaxMessage = 4096;
constexpr size_t kMaxReason = 128;
// A continue token has a key, whose parts have at most 253 bytes each.
constexpr size_t kMaxToken = 8192;
// As much of an answer as client-go keeps.
constexpr size_t kMaxTextBytes = 2048;

void Attach(const ApiFailure& failure, absl::Status& status) {
  // The message is the last part, because it is the only one that may contain a line break.
  const std::string text = absl::StrCat(failure.code, "\n", failure.reason, "\n",
                                        failure.retry_after_seconds, "\n", failure.message);
  // As a view, because clang and the library mangle Cord's constructor for std::string differently.
  status.SetPayload(kFailurePayload, absl::Cord(absl::string_view(text)));
}

// Describes an answer without a Status object by its first line, if that is readable text.
std::string DescribeBody(const HttpResponse& response) {
  absl::string_view line = absl::StripAsciiWhitespace(response.body);
  line = line.substr(0, std::min(line.find('\n'), kQuotedBodyBytes));
  const bool readable = std::all_of(line.begin(), line.end(),
                                    [](char c) { return absl::ascii_isprint(c) || c == '\t'; });
  if (line.empty() || !readable) return absl::StrCat("the server answered ", response.code);
  return absl::StrCat("the server answered ", response.code, ": ", line);
}

// Returns the body if its type is a text, or missing (client-go's isTextResponse), and if it can be
// read.
std::string TextOfBody(const HttpResponse& response) {
  const auto type = response.headers.find("content-type");
  const absl::string_view text =
      absl::StripAsciiWhitespace(absl::string_view(response.body).substr(0, kMaxTextBytes));
  const bool is_text =
      (type == response.headers.end() || absl::StartsWithIgnoreCase(type->second, "text/")) &&
      std::all_of(text.begin(), text.end(),
                  [](char c) { return absl::ascii_isprint(c) || absl::ascii_isspace(c); });
  return is_text ? std::string(text) : std::string(kUnreadableAnswer);
}

// A 409 has several meanings. A webhook may deny with any code and reason; its message follows a
// prefix of the API server's.
absl::StatusCode CodeOfConflict(const ApiFailure& failure) {
  if (absl::StartsWith(failure.message, kWebhookDenial)) {
    return absl::StatusCode::kFailedPrecondition;
  }
  if (failure.reason == "AlreadyExists") return absl::StatusCode::kAlreadyExists;
  return failure.reason == "Conflict" ? absl::StatusCode::kAborted
                                      : absl::StatusCode::kFailedPrecondition;
}

bool HasFieldConflict(const json::Value& status) {
  const absl::Span<const json::Value> causes = status.Get({"details", "causes"}).items();
  return std::any_of(causes.begin(), causes.end(), [](const json::Value& cause) {
    return cause["reason"].AsString() == "FieldManagerConflict";
  });
}

// The message is the server's alone; who has asked for what is added by ErrorOfResponse.
absl::Status MakeError(const ApiFailure& failure) {
  absl::Status status(CodeOf(failure), failure.message);
  Attach(failure, status);
  return status;
}

}  // namespace

absl::StatusCode CodeOf(const ApiFailure& failure) {
  // Any failure of the server may pass, a webhook's timeout included.
  if (failure.code >= 500) return absl::StatusCode::kUnavailable;
  switch (failure.code) {
    case 401:
      return absl::StatusCode::kUnauthenticated;
    case 403:
      return absl::StatusCode::kPermissionDenied;
    case 404:
      return absl::StatusCode::kNotFound;
    case 405:
      return absl::StatusCode::kUnimplemented;
    case 409:
      return CodeOfConflict(failure);
    // A version that the server has forgotten: list again.
    case 410:
      return absl::StatusCode::kOutOfRange;
    // The object is too large; the same write can never succeed.
    case 413:
      return absl::StatusCode::kResourceExhausted;
    case 429:
      return absl::StatusCode::kUnavailable;
    case 400:
    case 422:
      // A webhook that names no code denies with 400, and may accept the same change later.
      return absl::StartsWith(failure.message, kWebhookDenial)
                 ? absl::StatusCode::kFailedPrecondition
                 : absl::StatusCode::kInvalidArgument;
    case 408:
      return absl::StatusCode::kUnavailable;
    default:
      return absl::StatusCode::kUnknown;
  }
}

ApiFailure FailureOf(const absl::Status& status) {
  ApiFailure failure;
  const auto payload = status.GetPayload(kFailurePayload);
  if (!payload.has_value()) return failure;
  const std::string text(*payload);
  const std::vector<std::string> parts = absl::StrSplit(text, absl::MaxSplits('\n', 3));
  if (parts.size() != 4 || !absl::SimpleAtoi(parts[0], &failure.code)) return {};
  failure.reason = parts[1];
  if (!absl::SimpleAtoi(parts[2], &failure.retry_after_seconds)) failure.retry_after_seconds = 0;
  failure.message = parts[3];
  return failure;
}

absl::Status ErrorOfStatusObject(const json::Value& status, int http_code) {
  ApiFailure failure;
  failure.code = static_cast<int>(status["code"].AsInt(http_code));
  failure.reason = base::CutText(status["reason"].AsString(), kMaxReason);
  failure.message = base::CutText(status["message"].AsString(), kMaxMessage);
  failure.retry_after_seconds =
      static_cast<int>(status.Get({"details", "retryAfterSeconds"}).AsInt());
  if (failure.message.empty()) {
    failure.message = absl::StrCat("the server answered ", failure.code, " ", failure.reason);
  }
  absl::Status error = MakeError(failure);
  if (failure.code == 409 && HasFieldConflict(status)) {
    // kAborted would mean "try again with the newer object", but this conflict stays until another
    // manager gives the fields up.
    error = absl::FailedPreconditionError(failure.message);
    Attach(failure, error);
    error.SetPayload(kFieldConflictPayload, absl::Cord("1"));
  }
  if (!status.Get({"details", "name"}).AsString().empty()) {
    error.SetPayload(kNamesObjectPayload, absl::Cord("1"));
  }
  const absl::string_view rest = status.Get({"metadata", "continue"}).AsString();
  if (failure.code == 410 && !rest.empty() && rest.size() <= kMaxToken) {
    error.SetPayload(kRestPayload, absl::Cord(rest));
  }
  return error;
}

std::string TokenForRest(const absl::Status& error) {
  const auto payload = error.GetPayload(kRestPayload);
  return payload.has_value() ? std::string(*payload) : "";
}

bool NamesFieldManagers(const absl::Status& error) {
  return error.GetPayload(kFieldConflictPayload).has_value();
}

bool NamesObject(const absl::Status& error) {
  return error.GetPayload(kNamesObjectPayload).has_value();
}

absl::Status ErrorOfResponse(const HttpResponse& response, absl::string_view what) {
  absl::Status error;
  // A parser's error is useful only for a body that looks like an object.
  auto body = absl::StartsWith(response.body, "{") ? json::Parse(response.body)
                                                   : absl::StatusOr<json::Value>(json::Value());
  if (body.ok() && (*body)["kind"].AsString() == "Status") {
    error = ErrorOfStatusObject(*body, response.code);
  } else {
    error = MakeError({.code = response.code, .message = DescribeBody(response)});
    error.SetPayload(kWithoutStatusPayload, absl::Cord(absl::string_view(TextOfBody(response))));
  }
  // The header counts before what the Status object says.
  if (const int seconds = RetryAfterSeconds(response); seconds > 0) {
    ApiFailure failure = FailureOf(error);
    failure.retry_after_seconds = seconds;
    Attach(failure, error);
  }
  return base::Annotate(error, what);
}

std::optional<std::string> AnswerWithoutStatus(const absl::Status& error) {
  const auto payload = error.GetPayload(kWithoutStatusPayload);
  if (!payload.has_value()) return std::nullopt;
  return std::string(*payload);
}

int RetryAfterSeconds(const HttpResponse& response) {
  const auto found = response.headers.find("retry-after");
  if (found == response.headers.end()) return 0;
  int seconds = 0;
  return absl::SimpleAtoi(found->second, &seconds) && seconds >= 0 ? seconds : 1;
}

}  // namespace kube
