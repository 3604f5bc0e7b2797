// Turns HTTP answers into errors that callers can act on.
#ifndef KUBE_CLIENT_API_ERROR_H_
#define KUBE_CLIENT_API_ERROR_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/json.h"
#include "kube/client/client.h"
#include "kube/http/transport.h"

namespace kube {

// Returns the code for HTTP codes and Status reasons that client.h lists.
absl::StatusCode CodeOf(const ApiFailure& failure);

// Returns the error that a v1 Status object describes (the body of an error answer, or a watch's
// ERROR event); FailureOf() returns its parts again. Texts that are longer than any that an API
// server writes are cut. `http_code` is used when the object has no code.
absl::Status ErrorOfStatusObject(const json::Value& status, int http_code);

// Returns whether the server's error names an object (details.name): then a 404 is about the
// object, not about the path.
bool NamesObject(const absl::Status& error);

// Returns whether the server's error names other managers of fields that an apply would change.
bool NamesFieldManagers(const absl::Status& error);

// Returns the token with which a list may go on that has outlived its continue token (410); "" if
// the error has none. The rest of the list is of a later version than the pages before it.
std::string TokenForRest(const absl::Status& error);

// Returns the error for an answer whose code is not 2xx. `what` ("get Deployment default/web")
// precedes the server's message; of a body that is not a Status object at most one line is quoted.
absl::Status ErrorOfResponse(const HttpResponse& response, absl::string_view what);

// What AnswerWithoutStatus returns for an answer that is not text.
inline constexpr char kUnreadableAnswer[] = "unknown";
// Returns the text of an answer that was no Status object, cut to what client-go keeps of it;
// nullopt for all other errors.
std::optional<std::string> AnswerWithoutStatus(const absl::Status& error);

// Returns the seconds of the Retry-After header; 0 when there is none. Dates, which API servers do
// not send, count as 1.
int RetryAfterSeconds(const HttpResponse& response);

}  // namespace kube

#endif  // KUBE_CLIENT_API_ERROR_H_
