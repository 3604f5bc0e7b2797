// Reads application/vnd.kubernetes.protobuf: an envelope (runtime.Unknown) around a built-in
// object.
#ifndef KUBE_SERVER_WIRE_PROTOBUF_BODY_H_
#define KUBE_SERVER_WIRE_PROTOBUF_BODY_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/json.h"

namespace kube::server {

// Returns the object as JSON; 400 for bytes that are not such a message, or a kind that is not
// known.
absl::StatusOr<json::Value> DecodeProtobufBody(absl::string_view body);

}  // namespace kube::server

#endif  // KUBE_SERVER_WIRE_PROTOBUF_BODY_H_
