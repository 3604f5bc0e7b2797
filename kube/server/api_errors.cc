// An API error travels as an absl::Status: its code is the nearest that callers in this program can
// act on, and the exact answer (HTTP code, reason, message, details) is a payload in JSON, which
// the front end turns into the Status document. A status without that payload is an error of this
// program and becomes a 400, 403, 404 or 500 by its code. Messages are apimachinery's, word for
// word, since clients and users compare them.

#include "kube/server/api_errors.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kube::server {
namespace {

constexpr char kPayloadUrl[] = "kube.server/ApiError";

absl::StatusCode CodeOf(const ApiError& e) {
  switch (e.code) {
    case 400:
    case 413:
    case 415:
    case 422:
      return absl::StatusCode::kInvalidArgument;
    case 401:
      return absl::StatusCode::kUnauthenticated;
    case 403:
      return absl::StatusCode::kPermissionDenied;
    case 404:
      return absl::StatusCode::kNotFound;
    case 405:
    case 406:
    case 501:
      return absl::StatusCode::kUnimplemented;
    case 409:
      return e.reason == "AlreadyExists" ? absl::StatusCode::kAlreadyExists
                                         : absl::StatusCode::kAborted;
    case 410:
      return absl::StatusCode::kOutOfRange;
    case 429:
    case 503:
    case 504:
      return absl::StatusCode::kUnavailable;
    default:
      return absl::StatusCode::kInternal;
  }
}

// The field `kind` holds the name of the resource, as in apimachinery's errors.
json::Value Details(const GroupName& what, absl::string_view name) {
  json::Value details = json::Value::Object();
  if (!name.empty()) details.Set("name", name);
  if (!what.group.empty()) details.Set("group", what.group);
  if (!what.name.empty()) details.Set("kind", what.name);
  return details;
}

absl::Status Make(int code, absl::string_view reason, std::string message,
                  json::Value details = {}) {
  return ToStatus({code, std::string(reason), std::move(message), std::move(details)});
}

// Whole seconds, rounded up.
json::Value RetryAfter(absl::Duration wait) {
  const int64_t seconds = absl::ToInt64Seconds(absl::Ceil(wait, absl::Seconds(1)));
  return json::Value::Object({{"retryAfterSeconds", seconds}});
}

// Returns a bad value as Go prints it in a field error.
std::string Shown(const json::Value& value) { return json::Write(value); }

}  // namespace

absl::Status ToStatus(const ApiError& error) {
  absl::Status status(CodeOf(error), error.message);
  const json::Value payload = json::Value::Object({{"code", error.code},
                                                   {"reason", error.reason},
                                                   {"message", error.message},
                                                   {"details", error.details}});
  // As a view, because clang and the library mangle Cord's constructor for std::string differently.
  const std::string text = json::Write(payload);
  status.SetPayload(kPayloadUrl, absl::Cord(absl::string_view(text)));
  return status;
}

bool IsApiError(const absl::Status& status) { return status.GetPayload(kPayloadUrl).has_value(); }

ApiError ErrorOf(const absl::Status& status) {
  if (const auto payload = status.GetPayload(kPayloadUrl)) {
    if (const auto v = json::Parse(std::string(*payload)); v.ok()) {
      return {static_cast<int>((*v)["code"].AsInt()), (*v)["reason"].ToString(),
              (*v)["message"].ToString(), (*v)["details"]};
    }
  }
  const std::string message(status.message());
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
      return {400, "BadRequest", message, {}};
    case absl::StatusCode::kPermissionDenied:
      return {403, "Forbidden", message, {}};
    case absl::StatusCode::kNotFound:
      return {404, "NotFound", message, {}};
    default:
      return {500, "InternalError", absl::StrCat("Internal error occurred: ", message), {}};
  }
}

json::Value StatusJson(const ApiError& error) {
  json::Value v = json::Value::Object({{"kind", "Status"},
                                       {"apiVersion", "v1"},
                                       {"metadata", json::Value::Object()},
                                       {"status", "Failure"},
                                       {"message", error.message},
                                       {"code", error.code}});
  if (!error.reason.empty()) v.Set("reason", error.reason);
  if (!error.details.is_null()) v.Set("details", error.details);
  return v;
}

absl::Status NotFound(const GroupName& resource, absl::string_view name) {
  return Make(404, "NotFound", absl::StrCat(resource.ToString(), " \"", name, "\" not found"),
              Details(resource, name));
}

absl::Status AlreadyExists(const GroupName& resource, absl::string_view name) {
  return Make(409, "AlreadyExists",
              absl::StrCat(resource.ToString(), " \"", name, "\" already exists"),
              Details(resource, name));
}

absl::Status Conflict(const GroupName& resource, absl::string_view name, absl::string_view why) {
  return Make(409, "Conflict",
              absl::StrCat("Operation cannot be fulfilled on ", resource.ToString(), " \"", name,
                           "\": ", why),
              Details(resource, name));
}

absl::Status StaleWrite(const GroupName& resource, absl::string_view name) {
  return Conflict(resource, name,
                  "the object has been modified; please apply your changes to the latest version "
                  "and try again");
}

absl::Status Forbidden(const GroupName& resource, absl::string_view name, absl::string_view why) {
  return Make(403, "Forbidden",
              absl::StrCat(resource.ToString(), name.empty() ? "" : absl::StrCat(" \"", name, "\""),
                           " is forbidden: ", why),
              Details(resource, name));
}

absl::Status BadRequest(absl::string_view message) {
  return Make(400, "BadRequest", std::string(message));
}

absl::Status MethodNotAllowed(absl::string_view message) {
  return Make(405, "MethodNotAllowed", std::string(message), json::Value::Object());
}

absl::Status NotImplemented(absl::string_view message) {
  return Make(501, "NotImplemented", std::string(message), json::Value::Object());
}

absl::Status MethodNotSupported(const GroupName& resource, absl::string_view verb) {
  return Make(
      405, "MethodNotAllowed",
      absl::StrCat(verb, " is not supported on resources of kind \"", resource.ToString(), "\""),
      Details(resource, ""));
}

absl::Status NotAcceptable(absl::Span<const absl::string_view> accepted) {
  return Make(
      406, "NotAcceptable",
      absl::StrCat("only the following media types are accepted: ", absl::StrJoin(accepted, ", ")));
}

absl::Status TooManyRequests(absl::string_view message, absl::Duration retry_after) {
  return Make(429, "TooManyRequests", std::string(message), RetryAfter(retry_after));
}

absl::Status Timeout(absl::string_view message, absl::Duration retry_after) {
  return Make(504, "Timeout", absl::StrCat("Timeout: ", message), RetryAfter(retry_after));
}

absl::Status ServiceUnavailable(absl::string_view message) {
  return Make(503, "ServiceUnavailable", std::string(message));
}

absl::Status ServiceUnavailable(absl::string_view message, absl::Duration retry_after) {
  return Make(503, "ServiceUnavailable", std::string(message), RetryAfter(retry_after));
}

absl::Status PlainError(absl::string_view message) { return Make(500, "", std::string(message)); }

absl::Status Unauthorized() { return Make(401, "Unauthorized", "Unauthorized"); }

absl::Status UnsupportedMediaType(absl::string_view message) {
  return Make(415, "UnsupportedMediaType", std::string(message));
}

absl::Status Expired(absl::string_view message) {
  return Make(410, "Expired", std::string(message));
}

absl::Status FutureVersion(int64_t wanted, int64_t current) {
  return FutureVersion(
      absl::StrCat("Too large resource version: ", wanted, ", current: ", current));
}

absl::Status FutureVersion(absl::string_view message) {
  return ToStatus(
      {504, "Timeout", absl::StrCat("Timeout: ", message),
       json::Value::Object({{"retryAfterSeconds", 1},
                            {"causes", json::Value::Array({json::Value::Object(
                                           {{"reason", "ResourceVersionTooLarge"},
                                            {"message", "Too large resource version"}})})}})});
}

absl::Status InternalError(absl::string_view message) {
  return Make(500, "InternalError", absl::StrCat("Internal error occurred: ", message));
}

absl::Status NoSuchResource() {
  return Make(404, "NotFound", "the server could not find the requested resource",
              json::Value::Object());
}

void FieldErrors::Add(absl::string_view reason, absl::string_view field, std::string message) {
  for (const Cause& c : causes_) {
    // The same rule may be checked by two functions.
    if (c.field == field && c.message == message) return;
  }
  causes_.push_back({std::string(reason), std::move(message), std::string(field)});
}

void FieldErrors::Required(absl::string_view field, absl::string_view detail) {
  Add("FieldValueRequired", field,
      detail.empty() ? "Required value" : absl::StrCat("Required value: ", detail));
}

void FieldErrors::Invalid(absl::string_view field, const json::Value& value,
                          absl::string_view detail) {
  InvalidText(field, Shown(value), detail);
}

void FieldErrors::InvalidText(absl::string_view field, absl::string_view shown,
                              absl::string_view detail) {
  Add("FieldValueInvalid", field, absl::StrCat("Invalid value: ", shown, ": ", detail));
}

void FieldErrors::InvalidWithoutValue(absl::string_view field, absl::string_view detail) {
  Add("FieldValueInvalid", field, absl::StrCat("Invalid value: ", detail));
}

void FieldErrors::TypeInvalid(absl::string_view field, const json::Value& value,
                              absl::string_view detail) {
  Add("FieldValueTypeInvalid", field, absl::StrCat("Invalid value: ", Shown(value), ": ", detail));
}

void FieldErrors::NotSupported(absl::string_view field, const json::Value& value,
                               const std::vector<std::string>& supported) {
  const std::string list = absl::StrJoin(
      supported, ", ",
      [](std::string* out, const std::string& s) { absl::StrAppend(out, "\"", s, "\""); });
  Add("FieldValueNotSupported", field,
      absl::StrCat("Unsupported value: ", Shown(value),
                   supported.empty() ? "" : absl::StrCat(": supported values: ", list)));
}

void FieldErrors::Forbidden(absl::string_view field, absl::string_view detail) {
  Add("FieldValueForbidden", field, absl::StrCat("Forbidden: ", detail));
}

void FieldErrors::Duplicate(absl::string_view field, const json::Value& value) {
  Add("FieldValueDuplicate", field, absl::StrCat("Duplicate value: ", Shown(value)));
}

void FieldErrors::TooLong(absl::string_view field, int64_t max_bytes) {
  Add("FieldValueTooLong", field,
      absl::StrCat("Too long: may not be more than ", max_bytes, " bytes"));
}

void FieldErrors::TooMany(absl::string_view field, int64_t actual, int64_t max) {
  Add("FieldValueTooMany", field,
      absl::StrCat("Too many: ", actual, ": must have at most ", max, " items"));
}

absl::Status FieldErrors::ToStatus(const GroupName& kind, absl::string_view name) const {
  if (causes_.empty()) return absl::OkStatus();
  json::Value list = json::Value::Array();
  std::vector<std::string> lines;
  for (const Cause& c : causes_) {
    list.Append(
        json::Value::Object({{"reason", c.reason}, {"message", c.message}, {"field", c.field}}));
    lines.push_back(absl::StrCat(c.field, ": ", c.message));
  }
  json::Value details = Details(kind, name);
  details.Set("causes", std::move(list));
  const std::string all =
      // Upstream's aggregate has brackets around more than one.
      lines.size() == 1 ? lines[0] : absl::StrCat("[", absl::StrJoin(lines, ", "), "]");
  return Make(422, "Invalid", absl::StrCat(kind.ToString(), " \"", name, "\" is invalid: ", all),
              std::move(details));
}

// The text is from definitions and objects: quotes and control characters must not end the header.
std::string WarningHeader(absl::string_view text) {
  std::string out = "299 - \"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out.push_back('\\');
    out.push_back(absl::ascii_isprint(static_cast<unsigned char>(c)) ? c : ' ');
  }
  return out + "\"";
}

}  // namespace kube::server
