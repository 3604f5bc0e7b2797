// Reading responses: what both dialects have in common. Errors are as Codec::Decode says.
#ifndef INTERPRETER_WEBHOOK_RESPONSE_H_
#define INTERPRETER_WEBHOOK_RESPONSE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/json.h"
#include "interpreter/webhook/codec.h"

namespace interpreter::webhook {

// "received invalid webhook response: <what>", and the same for an error that has a text already.
absl::Status InvalidResponse(absl::string_view what);
// "failed to call webhook: <what>", in client-go's words: a review with a member of a wrong type.
absl::Status Undecodable(absl::string_view what);
// The same words for a body that is no review.
absl::Status Unreadable(absl::string_view what);

// The member `response` of a message of this kind for the call `uid`. apiVersion and kind may be
// missing; others than the expected ones are refused.
absl::StatusOr<json::Value> ResponseOf(absl::string_view body, absl::string_view kind,
                                       absl::string_view uid);

// Members by type, as Go decodes them: null counts as absent, another type is undecodable.
absl::StatusOr<std::optional<int32_t>> FindInt32(const json::Value& response,
                                                 absl::string_view name);
absl::StatusOr<std::optional<bool>> FindBool(const json::Value& response, absl::string_view name);
// nullopt when absent, so that it differs from "".
absl::StatusOr<std::optional<std::string>> FindText(const json::Value& response,
                                                    absl::string_view name);
// Returns null when the member is absent.
absl::StatusOr<json::Value> FindObjectOrNull(const json::Value& response, absl::string_view name);
// Gives what the reader of typed_results.h leaves of it; null when absent.
using TypedReader = absl::StatusOr<json::Value> (*)(const json::Value&);
absl::StatusOr<json::Value> FindTyped(const json::Value& response, absl::string_view name,
                                      TypedReader read);

// `replicas` (required) and `replicaRequirements`, read as a script's are.
absl::StatusOr<Replicas> ReadReplicas(const json::Value& response);
// `dependencies`, validated.
absl::StatusOr<json::Value> ReadDependencies(const json::Value& response);
// `healthy` (required).
absl::StatusOr<bool> ReadHealthy(const json::Value& response);
// `patch` and `patchType`, both or neither; null when nothing is to be changed.
absl::StatusOr<json::Value> ReadPatch(const json::Value& response);

// The answer to an operation that both dialects answer alike: all but components, status and (in
// ExploreReview) the aggregation of status, for which it is an error.
absl::StatusOr<Answer> ReadAnswer(Operation op, const json::Value& response);

}  // namespace interpreter::webhook

#endif  // INTERPRETER_WEBHOOK_RESPONSE_H_
