#include "interpreter/webhook/context_codec.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "api/webhook_configuration.h"
#include "base/status.h"
#include "interpreter/typed_results.h"
#include "interpreter/webhook/failure.h"
#include "interpreter/webhook/request.h"
#include "interpreter/webhook/response.h"

namespace interpreter::webhook {

namespace {

// OK when the hook reports success.
absl::Status CheckSuccess(const json::Value& response) {
  ASSIGN_OR_RETURN(const auto successful, FindBool(response, "successful"));
  if (successful.value_or(false)) return absl::OkStatus();
  ASSIGN_OR_RETURN(const json::Value status, FindObjectOrNull(response, "status"));
  if (status.is_null()) {
    return InvalidResponse("webhook require response.status when response.successful is false");
  }
  return WithReason(absl::FailedPreconditionError(absl::StrCat(
                        "webhook call failed, get status code: ", status["code"].AsInt(),
                        ", msg: ", status["message"].AsString())),
                    FailureReason::kRejected);
}

absl::StatusOr<json::Value> ReadComponents(const json::Value& response) {
  ASSIGN_OR_RETURN(json::Value components,
                   FindTyped(response, "components", &interpreter::ReadComponents));
  return components.is_null() ? json::Value::Array() : components;
}

absl::StatusOr<json::Value> ReadRawStatus(const json::Value& response) {
  const json::Value& status = response["rawStatus"];
  if (status.is_null()) return InvalidResponse("webhook returned nill response.rawStatus");
  return FindObjectOrNull(response, "rawStatus");
}

}  // namespace

std::string ContextCodec::Encode(const Call& call) const {
  json::Value request = RequestOf(call, Dialect::kInterpreterContext);
  const int64_t replicas =
      call.question.operation == Operation::kReviseReplica ? call.question.replicas : 0;
  request.Set("replicas", static_cast<int64_t>(static_cast<int32_t>(replicas)));
  return MessageOf(api::kInterpreterContextKind, std::move(request));
}

absl::StatusOr<Answer> ContextCodec::Decode(const Call& call, absl::string_view body) const {
  ASSIGN_OR_RETURN(const json::Value response,
                   ResponseOf(body, api::kInterpreterContextKind, call.uid));
  RETURN_IF_ERROR(CheckSuccess(response));
  switch (call.question.operation) {
    case Operation::kInterpretComponent:
      return ReadComponents(response);
    case Operation::kInterpretStatus:
      return ReadRawStatus(response);
    default:
      return ReadAnswer(call.question, response);
  }
}

}  // namespace interpreter::webhook
