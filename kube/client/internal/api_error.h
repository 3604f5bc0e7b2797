// Turns HTTP answers into errors that callers can act on.
#ifndef KUBE_CLIENT_INTERNAL_API_ERROR_H_
#define KUBE_CLIENT_INTERNAL_API_ERROR_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/json.h"
#include "kube/client/client.h"
#include "kube/client/transport.h"

namespace kube {

// The table of HTTP codes and Status reasons that client.h describes.
absl::StatusCode CodeOf(const ApiFailure& failure);

// The error that a v1 Status object describes (the body of an error answer, or a watch's ERROR
// event); FailureOf() finds its parts again. Its texts are cut where they are longer than any that
// an API server writes. `http_code` is used where the object has no code.
absl::Status ErrorOfStatusObject(const json::Value& status, int http_code);

// Returns whether the server's error names an object (details.name): a 404 is then about that, not
// about the path.
bool NamesObject(const absl::Status& error);

// The error of an answer whose code is not 2xx. `what` ("get Deployment default/web") precedes the
// server's message; a body that is not a Status object is quoted up to a line's length.
absl::Status ErrorOfResponse(const HttpResponse& response, absl::string_view what);

// Seconds of the Retry-After header; 0 when there is none. Dates are not used by API servers and
// count as 1.
int RetryAfterSeconds(const HttpResponse& response);

}  // namespace kube

#endif  // KUBE_CLIENT_INTERNAL_API_ERROR_H_
