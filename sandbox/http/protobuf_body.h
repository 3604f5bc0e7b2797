// Reads application/vnd.kubernetes.protobuf: an envelope (runtime.Unknown) around a built-in
// object.
#ifndef SANDBOX_HTTP_PROTOBUF_BODY_H_
#define SANDBOX_HTTP_PROTOBUF_BODY_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/json.h"

namespace sandbox {

// Returns the object as JSON; 400 for bytes that are not such a message, or a kind that is not
// known.
absl::StatusOr<json::Value> DecodeProtobufBody(absl::string_view body);

}  // namespace sandbox

#endif  // SANDBOX_HTTP_PROTOBUF_BODY_H_
