#include "interpreter/webhook/failure.h"

#include <cstddef>
#include <string>

#include "absl/strings/cord.h"
#include "base/enumerated.h"

namespace interpreter::webhook {

namespace {

constexpr char kReasonPayload[] = "interpreter/webhook-failure";

constexpr auto kReasons = base::Enumerate<FailureReason>({
    {FailureReason::kConfiguration, "configuration"},
    {FailureReason::kServiceLookup, "service_lookup"},
    {FailureReason::kConnection, "connection"},
    {FailureReason::kTimeout, "timeout"},
    {FailureReason::kServerError, "server_error"},
    {FailureReason::kHttpStatus, "http_status"},
    {FailureReason::kUnreadable, "unreadable"},
    {FailureReason::kInvalidResponse, "invalid_response"},
    {FailureReason::kRejected, "rejected"},
    {FailureReason::kPatch, "patch"},
    {FailureReason::kSuspended, "suspended"},
    {FailureReason::kStopped, "stopped"},
});

}  // namespace

absl::string_view FailureReasonName(FailureReason reason) { return kReasons.TextOf(reason); }

absl::Status WithReason(absl::Status status, FailureReason reason) {
  status.SetPayload(kReasonPayload, absl::Cord(FailureReasonName(reason)));
  return status;
}

FailureReason ReasonOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kReasonPayload);
  // Unmarked errors are those of reading an answer, where no function marks every one.
  if (!payload.has_value()) return FailureReason::kInvalidResponse;
  return kReasons.Named(std::string(*payload)).value_or(FailureReason::kInvalidResponse);
}

HookHealth HealthAfter(FailureReason reason) {
  switch (reason) {
    case FailureReason::kConnection:
    case FailureReason::kTimeout:
    case FailureReason::kServerError:
      return HookHealth::kDown;
    case FailureReason::kHttpStatus:
    case FailureReason::kInvalidResponse:
    case FailureReason::kRejected:
    case FailureReason::kPatch:
      return HookHealth::kUp;
    case FailureReason::kConfiguration:
    case FailureReason::kServiceLookup:
    case FailureReason::kUnreadable:
    case FailureReason::kSuspended:
    case FailureReason::kStopped:
      return HookHealth::kUnknown;
  }
  return HookHealth::kUnknown;
}

}  // namespace interpreter::webhook
