#include "interpreter/webhook/explore_codec.h"

#include <utility>

#include "api/webhook_configuration.h"
#include "base/status.h"
#include "interpreter/webhook/request.h"
#include "interpreter/webhook/response.h"

namespace interpreter::webhook {

namespace {

absl::StatusOr<Answer> ReadAggregation(const json::Value& response) {
  Answer answer;
  ASSIGN_OR_RETURN(answer.patch, ReadPatch(response));
  ASSIGN_OR_RETURN(answer.new_status, FindObjectOrNull(response, "status"));
  if (!answer.patch.is_null() && !answer.new_status.is_null()) {
    return InvalidResponse("webhook returned both response.patch and response.status");
  }
  return answer;
}

absl::StatusOr<Answer> ReadStatus(const json::Value& response) {
  Answer answer;
  ASSIGN_OR_RETURN(answer.status, FindObjectOrNull(response, "status"));
  return answer;
}

}  // namespace

std::string ExploreCodec::Encode(const Question& question) const {
  json::Value request = RequestOf(question, Dialect::kExploreReview);
  if (question.operation == Operation::kReviseReplica) {
    request.Set("replicas", static_cast<int64_t>(static_cast<int32_t>(question.replicas)));
  }
  return MessageOf(api::kExploreReviewKind, std::move(request));
}

absl::StatusOr<Answer> ExploreCodec::Decode(const Question& question,
                                            absl::string_view body) const {
  ASSIGN_OR_RETURN(const json::Value response,
                   ResponseOf(body, api::kExploreReviewKind, question.uid));
  switch (question.operation) {
    case Operation::kInterpretStatus:
      return ReadStatus(response);
    case Operation::kAggregateStatus:
      return ReadAggregation(response);
    default:
      return ReadAnswer(question.operation, response);
  }
}

}  // namespace interpreter::webhook
