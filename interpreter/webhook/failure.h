// Marks errors of calls with the reason of the failure, which metrics and the circuit breaker use.
#ifndef INTERPRETER_WEBHOOK_FAILURE_H_
#define INTERPRETER_WEBHOOK_FAILURE_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace interpreter::webhook {

enum class FailureReason {
  kConfiguration,  // The hook is unusable as configured, or its Service cannot be routed to.
  kServiceLookup,  // The control plane's Services are not known (yet): not the hook's fault.
  // No connection, an untrusted server, or a connection that broke before the end of the answer.
  kConnection,
  kTimeout,          // No complete answer in time.
  kServerError,      // Code 429 or 5xx: the server, or a proxy, cannot serve now.
  kHttpStatus,       // Any other code outside 200..206.
  kUnreadable,       // The body is not a review: a proxy's page, another message, or nothing.
  kInvalidResponse,  // A review that does not answer this question.
  kRejected,         // A proper answer in which the hook reports a failure.
  kPatch,            // The patch does not apply to the object.
  kSuspended,        // The call was not made because earlier calls failed (CircuitBreaker).
  kStopped,          // The program is stopping.
};
// Returns "timeout", "invalid_response" and so on: the values of a metric's label.
absl::string_view FailureReasonName(FailureReason reason);

// Returns the same error, marked with a reason. REQUIRES: !status.ok().
absl::Status WithReason(absl::Status status, FailureReason reason);
// Returns the reason of a marked error; kInvalidResponse when it has none.
FailureReason ReasonOf(const absl::Status& status);
// What the result of a call shows about the hook as a whole.
enum class HookHealth {
  // The hook, or the way to it, is out of order: no connection, an untrusted server, no answer in
  // time, a server error. Callers lose time with it, so calls are suspended.
  kDown,
  // The hook answered; an error concerns this object (or the configuration, as with code 404).
  kUp,
  // The hook was not asked, or the answer need not come from it, as with a proxy's page with code
  // 200. Such a page comes fast, so it is not a reason to suspend calls, but it does not show,
  // either, that a hook that was down is back.
  kUnknown,
};
HookHealth HealthAfter(FailureReason reason);

}  // namespace interpreter::webhook

#endif  // INTERPRETER_WEBHOOK_FAILURE_H_
