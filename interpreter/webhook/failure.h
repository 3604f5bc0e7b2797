// Why a call of a hook failed, as a label for metrics and for decisions.
#ifndef INTERPRETER_WEBHOOK_FAILURE_H_
#define INTERPRETER_WEBHOOK_FAILURE_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace interpreter::webhook {

enum class FailureReason {
  kConfiguration,  // The hook is unusable as configured, or its Service cannot be routed to.
  kServiceLookup,  // The control plane's Services are not known (yet): not the hook's fault.
  kConnection,     // No connection, no trust, or it broke before the whole answer was there.
  kTimeout,        // No whole answer in time.
  kServerError,    // Code 429 or 5xx: whoever answered cannot serve now.
  kHttpStatus,     // Another code than those and 200..206.
  kUnreadable,     // No review at all: no JSON (such as a proxy's page), another message, nothing.
  kInvalidResponse,  // A review that is no answer to this question.
  kRejected,         // A proper answer: the hook says that it failed.
  kPatch,            // The patch does not apply to the object.
  kSuspended,        // Not called: the calls before failed (CircuitBreaker).
  kStopped,          // The program is stopping.
};
// "timeout", "invalid_response", ...: the values of a metric's label.
absl::string_view FailureReasonName(FailureReason reason);

// The same error, marked with a reason. REQUIRES: !status.ok().
absl::Status WithReason(absl::Status status, FailureReason reason);
// The mark; kInvalidResponse when there is none.
FailureReason ReasonOf(const absl::Status& status);
// What a failed call says about the hook as a whole.
enum class Health {
  // It, or the way to it, is out of order: no connection, no trust, no answer in time, a server
  // error. Callers lose time there, so it is better left alone.
  kDown,
  // It answered; what is wrong concerns this object (or the configuration, as with code 404).
  kUp,
  // Nobody knows. Not asked, or an answer that need not come from the hook: a proxy's page with
  // code 200 comes fast, so nothing is gained by suspending calls for it, but it is no sign either
  // that a hook that was down is back.
  kUnknown,
};
Health HealthAfter(FailureReason reason);

}  // namespace interpreter::webhook

#endif  // INTERPRETER_WEBHOOK_FAILURE_H_
