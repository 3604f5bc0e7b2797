#include "interpreter/webhook/failure.h"

#include <cstddef>
#include <string>

#include "absl/strings/cord.h"

namespace interpreter::webhook {

namespace {

constexpr char kReasonPayload[] = "interpreter/webhook-failure";

constexpr FailureReason kAllReasons[] = {
    FailureReason::kConfiguration, FailureReason::kServiceLookup,   FailureReason::kConnection,
    FailureReason::kTimeout,       FailureReason::kServerError,     FailureReason::kHttpStatus,
    FailureReason::kUnreadable,    FailureReason::kInvalidResponse, FailureReason::kRejected,
    FailureReason::kPatch,         FailureReason::kSuspended,       FailureReason::kStopped,
};

}  // namespace

absl::string_view FailureReasonName(FailureReason reason) {
  switch (reason) {
    case FailureReason::kConfiguration:
      return "configuration";
    case FailureReason::kServiceLookup:
      return "service_lookup";
    case FailureReason::kConnection:
      return "connection";
    case FailureReason::kTimeout:
      return "timeout";
    case FailureReason::kServerError:
      return "server_error";
    case FailureReason::kHttpStatus:
      return "http_status";
    case FailureReason::kUnreadable:
      return "unreadable";
    case FailureReason::kInvalidResponse:
      return "invalid_response";
    case FailureReason::kRejected:
      return "rejected";
    case FailureReason::kPatch:
      return "patch";
    case FailureReason::kSuspended:
      return "suspended";
    case FailureReason::kStopped:
      return "stopped";
  }
  return "";
}

absl::Status WithReason(absl::Status status, FailureReason reason) {
  status.SetPayload(kReasonPayload, absl::Cord(FailureReasonName(reason)));
  return status;
}

FailureReason ReasonOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kReasonPayload);
  for (const FailureReason reason : kAllReasons) {
    if (payload.has_value() && *payload == FailureReasonName(reason)) return reason;
  }
  // Unmarked errors are those of reading an answer, where no function marks every one.
  return FailureReason::kInvalidResponse;
}

Health HealthAfter(FailureReason reason) {
  switch (reason) {
    case FailureReason::kConnection:
    case FailureReason::kTimeout:
    case FailureReason::kServerError:
      return Health::kDown;
    case FailureReason::kHttpStatus:
    case FailureReason::kInvalidResponse:
    case FailureReason::kRejected:
    case FailureReason::kPatch:
      return Health::kUp;
    case FailureReason::kConfiguration:
    case FailureReason::kServiceLookup:
    case FailureReason::kUnreadable:
    case FailureReason::kSuspended:
    case FailureReason::kStopped:
      return Health::kUnknown;
  }
  return Health::kUnknown;
}

}  // namespace interpreter::webhook
