// The errors of a Kubernetes API server, with the wording of apimachinery's errors and field
// packages.
//
//   return NotFound(table, "web");             // deployments.apps "web" not found
//   FieldErrors errors;
//   errors.Required("spec.selector");
//   RETURN_IF_ERROR(errors.ToStatus(kind, "web"));   // Deployment.apps "web" is invalid: ...
#ifndef KUBE_SERVER_API_ERRORS_H_
#define KUBE_SERVER_API_ERRORS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "base/json.h"

namespace kube::server {

// An API error. It is a payload of an absl::Status, so that the front end can answer with it.
struct ApiError {
  int code = 500;      // HTTP status code.
  std::string reason;  // "NotFound", "Conflict", "Invalid", ...
  std::string message;
  json::Value details;  // The details of the Status, or null.
};
absl::Status ToStatus(const ApiError& error);
ApiError ErrorOf(const absl::Status& status);
// Returns whether the status was made by ToStatus, so that it has its own answer.
bool IsApiError(const absl::Status& status);

// A resource or a kind within its group: "deployments.apps", "pods", "Deployment.apps".
struct GroupName {
  std::string group;
  std::string name;

  std::string ToString() const { return group.empty() ? name : name + "." + group; }
  friend auto operator<=>(const GroupName&, const GroupName&) = default;
};

// One function for each API reason. The absl::Status contains the ApiError (see ErrorOf).
absl::Status NotFound(const GroupName& resource, absl::string_view name);
absl::Status AlreadyExists(const GroupName& resource, absl::string_view name);
// "Operation cannot be fulfilled on <resource> "<name>": <why>".
absl::Status Conflict(const GroupName& resource, absl::string_view name, absl::string_view why);
// Returns the conflict of a write with an old resourceVersion.
absl::Status StaleWrite(const GroupName& resource, absl::string_view name);
// "<resource> "<name>" is forbidden: <why>".
absl::Status Forbidden(const GroupName& resource, absl::string_view name, absl::string_view why);
absl::Status BadRequest(absl::string_view message);
absl::Status MethodNotAllowed(absl::string_view message);
// "<verb> is not supported on resources of kind "<resource>"".
absl::Status MethodNotSupported(const GroupName& resource, absl::string_view verb);
// 406: "only the following media types are accepted: <accepted>".
absl::Status NotAcceptable(absl::Span<const absl::string_view> accepted);
absl::Status NotImplemented(absl::string_view message);
absl::Status Unauthorized();
absl::Status UnsupportedMediaType(absl::string_view message);
absl::Status Expired(absl::string_view message);
// 504: the client knows a resourceVersion that has not been reached yet (the server was restored).
absl::Status FutureVersion(int64_t wanted, int64_t current);
// As above, with another text: "Timeout: <message>".
absl::Status FutureVersion(absl::string_view message);
// Ask the client to come back after `retry_after`, which is rounded up to whole seconds: 429, 504
// "Timeout: <message>", and 503.
absl::Status TooManyRequests(absl::string_view message, absl::Duration retry_after);
absl::Status Timeout(absl::string_view message, absl::Duration retry_after);
absl::Status ServiceUnavailable(absl::string_view message, absl::Duration retry_after);
// 503 without a time.
absl::Status ServiceUnavailable(absl::string_view message);
absl::Status InternalError(absl::string_view message);
// 500 without a reason, which is what apiserver makes of an error that is not an API error.
absl::Status PlainError(absl::string_view message);
// Returns the generic 404 for a path that is not served.
absl::Status NoSuchResource();

// Returns the metav1.Status document of an error.
json::Value StatusJson(const ApiError& error);

// Collects the mistakes in an object; `field` is a path such as "spec.ports[0].name".
class FieldErrors {
 public:
  void Required(absl::string_view field, absl::string_view detail = "");
  void Invalid(absl::string_view field, const json::Value& value, absl::string_view detail);
  // As Invalid, for a value that is shown literally.
  void InvalidText(absl::string_view field, absl::string_view shown, absl::string_view detail);
  // As Invalid, where apimachinery leaves the value out (field.OmitValueType).
  void InvalidWithoutValue(absl::string_view field, absl::string_view detail);
  // As Invalid, with the cause FieldValueTypeInvalid.
  void TypeInvalid(absl::string_view field, const json::Value& value, absl::string_view detail);
  void NotSupported(absl::string_view field, const json::Value& value,
                    const std::vector<std::string>& supported);
  void Forbidden(absl::string_view field, absl::string_view detail);
  void Duplicate(absl::string_view field, const json::Value& value);
  void TooLong(absl::string_view field, int64_t max_bytes);
  void TooMany(absl::string_view field, int64_t actual, int64_t max);

  bool empty() const { return causes_.empty(); }
  // Returns OK when there are no mistakes, else the 422 "<kind> "<name>" is invalid: ...".
  absl::Status ToStatus(const GroupName& kind, absl::string_view name) const;

 private:
  struct Cause {
    std::string reason, message, field;
  };
  void Add(absl::string_view reason, absl::string_view field, std::string message);

  std::vector<Cause> causes_;
};

// Returns the value of a Warning header. 299 stands for a warning without a meaning for caches, "-"
// for no agent, as API servers write it. Characters that a header may not have become spaces.
std::string WarningHeader(absl::string_view text);

}  // namespace kube::server

#endif  // KUBE_SERVER_API_ERRORS_H_
