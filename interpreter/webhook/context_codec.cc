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

absl::StatusOr<Answer> ReadComponents(const json::Value& response) {
  Answer answer;
  ASSIGN_OR_RETURN(answer.components,
                   FindTyped(response, "components", &interpreter::ReadComponents));
  if (answer.components.is_null()) answer.components = json::Value::Array();
  return answer;
}

absl::StatusOr<Answer> ReadRawStatus(const json::Value& response) {
  const json::Value& status = response["rawStatus"];
  if (status.is_null()) return InvalidResponse("webhook returned nill response.rawStatus");
  RETURN_IF_ERROR(FindObjectOrNull(response, "rawStatus").status());
  Answer answer;
  answer.status = status;
  return answer;
}

}  // namespace

std::string ContextCodec::Encode(const Question& question) const {
  json::Value request = RequestOf(question, Dialect::kInterpreterContext);
  const int64_t replicas = question.operation == Operation::kReviseReplica ? question.replicas : 0;
  request.Set("replicas", static_cast<int64_t>(static_cast<int32_t>(replicas)));
  return MessageOf(api::kInterpreterContextKind, std::move(request));
}

absl::StatusOr<Answer> ContextCodec::Decode(const Question& question,
                                            absl::string_view body) const {
  ASSIGN_OR_RETURN(const json::Value response,
                   ResponseOf(body, api::kInterpreterContextKind, question.uid));
  RETURN_IF_ERROR(CheckSuccess(response));
  switch (question.operation) {
    case Operation::kInterpretComponent:
      return ReadComponents(response);
    case Operation::kInterpretStatus:
      return ReadRawStatus(response);
    default:
      return ReadAnswer(question.operation, response);
  }
}

}  // namespace interpreter::webhook
