// Reads the parts of responses that both dialects have in common. Errors are those of
// Codec::Decode.
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

// Returns the error "received invalid webhook response: <what>".
absl::Status InvalidResponse(absl::string_view what);
// Returns the error "failed to call webhook: <what>", in client-go's words, for a review with a
// member of a wrong type.
absl::Status Undecodable(absl::string_view what);
// Returns the same error for a body that is not a review.
absl::Status Unreadable(absl::string_view what);

// Returns the member `response` of a message of this kind for the call `uid`. apiVersion and kind
// may be missing, but other ones than expected are refused.
absl::StatusOr<json::Value> ResponseOf(absl::string_view body, absl::string_view kind,
                                       absl::string_view uid);

// Return a member of this type, as Go decodes it: null counts as absent, another type is
// Undecodable.
absl::StatusOr<std::optional<int32_t>> FindInt32(const json::Value& response,
                                                 absl::string_view name);
absl::StatusOr<std::optional<bool>> FindBool(const json::Value& response, absl::string_view name);
// Returns nullopt when the member is absent, so that it differs from "".
absl::StatusOr<std::optional<std::string>> FindText(const json::Value& response,
                                                    absl::string_view name);
// Returns null when the member is absent.
absl::StatusOr<json::Value> FindObjectOrNull(const json::Value& response, absl::string_view name);
// Returns what a reader of typed_results.h makes of the member; null when it is absent.
using TypedReader = absl::StatusOr<json::Value> (*)(const json::Value&);
absl::StatusOr<json::Value> FindTyped(const json::Value& response, absl::string_view name,
                                      TypedReader read);

// Reads `patch` and `patchType`, which must come together; null when there is nothing to change.
absl::StatusOr<json::Value> ReadPatch(const json::Value& response);
// Returns the object with this patch (RFC 6902 operations, or null), and the same object
// (SharesWith) when the patch changes nothing.
absl::StatusOr<kube::Object> Patched(const kube::Object& object, const json::Value& patch);

// Reads the answer to an operation whose answers are the same in both dialects: all operations but
// components, status and (in ExploreReview) the aggregation of status. The result is an error for
// components and status.
absl::StatusOr<Answer> ReadAnswer(const Question& question, const json::Value& response);

}  // namespace interpreter::webhook

#endif  // INTERPRETER_WEBHOOK_RESPONSE_H_
