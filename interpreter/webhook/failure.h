// Why a call of a hook failed, as a label for metrics and for decisions.
#ifndef INTERPRETER_WEBHOOK_FAILURE_H_
#define INTERPRETER_WEBHOOK_FAILURE_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace interpreter::webhook {

enum class FailureReason {
  kConfiguration,    // The hook is unusable as configured, or its Service cannot be routed to.
  kConnection,       // No connection, no trust, or it broke before the whole answer was there.
  kTimeout,          // No whole answer in time.
  kHttpStatus,       // An answer with another code than 200..206.
  kInvalidResponse,  // An answer that is no answer to this question.
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
// Whether the hook, or the way to it, is out of order: what the circuit breaker counts. A hook that
// refuses one object is in order.
bool IsOutage(FailureReason reason);

}  // namespace interpreter::webhook

#endif  // INTERPRETER_WEBHOOK_FAILURE_H_
