#include "interpreter/webhook/explore_codec.h"

#include <utility>

#include "api/webhook_configuration.h"
#include "base/status.h"
#include "interpreter/webhook/request.h"
#include "interpreter/webhook/response.h"

namespace interpreter::webhook {

namespace {

// The response has a patch, or the whole new status instead.
absl::StatusOr<kube::Object> ReadAggregation(const kube::Object& object,
                                             const json::Value& response) {
  ASSIGN_OR_RETURN(const json::Value patch, ReadPatch(response));
  ASSIGN_OR_RETURN(const json::Value status, FindObjectOrNull(response, "status"));
  if (status.is_null()) return Patched(object, patch);
  if (!patch.is_null()) {
    return InvalidResponse("webhook returned both response.patch and response.status");
  }
  kube::Object changed = object;
  changed.Set({"status"}, status);
  return changed;
}

}  // namespace

std::string ExploreCodec::Encode(const Call& call) const {
  json::Value request = RequestOf(call, Dialect::kExploreReview);
  if (call.question.operation == Operation::kReviseReplica) {
    request.Set("replicas", static_cast<int64_t>(static_cast<int32_t>(call.question.replicas)));
  }
  return MessageOf(api::kExploreReviewKind, std::move(request));
}

absl::StatusOr<Answer> ExploreCodec::Decode(const Call& call, absl::string_view body) const {
  ASSIGN_OR_RETURN(const json::Value response, ResponseOf(body, api::kExploreReviewKind, call.uid));
  switch (call.question.operation) {
    case Operation::kInterpretStatus:
      return FindObjectOrNull(response, "status");
    case Operation::kAggregateStatus:
      return ReadAggregation(call.question.object, response);
    default:
      return ReadAnswer(call.question, response);
  }
}

}  // namespace interpreter::webhook
