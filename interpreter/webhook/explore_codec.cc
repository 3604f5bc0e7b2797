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

absl::StatusOr<Answer> ReadAnswer(Operation op, const json::Value& response) {
  Answer answer;
  switch (op) {
    case Operation::kInterpretReplica: {
      ASSIGN_OR_RETURN(answer.replicas, ReadReplicas(response));
      return answer;
    }
    case Operation::kInterpretDependency: {
      ASSIGN_OR_RETURN(answer.dependencies, ReadDependencies(response));
      return answer;
    }
    case Operation::kInterpretStatus:
      answer.status = response["status"];
      return answer;
    case Operation::kInterpretHealth: {
      ASSIGN_OR_RETURN(answer.healthy, ReadHealthy(response));
      return answer;
    }
    case Operation::kAggregateStatus:
      return ReadAggregation(response);
    case Operation::kReviseReplica:
    case Operation::kRetain:
    case Operation::kPrune: {
      ASSIGN_OR_RETURN(answer.patch, ReadPatch(response));
      return answer;
    }
    case Operation::kInterpretComponent:
      break;  // Not in this dialect; hooks are never asked.
  }
  return InvalidResponse("the dialect has no such operation");
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
  return ReadAnswer(question.operation, response);
}

}  // namespace interpreter::webhook
