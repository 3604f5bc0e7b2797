// Writes the parts of requests that both dialects have in common.
#ifndef INTERPRETER_WEBHOOK_REQUEST_H_
#define INTERPRETER_WEBHOOK_REQUEST_H_

#include <string>

#include "absl/strings/string_view.h"
#include "base/json.h"
#include "interpreter/webhook/codec.h"

namespace interpreter::webhook {

// Returns the member `request` without `replicas`, in which the dialects differ.
json::Value RequestOf(const Call& call, Dialect dialect);
// Returns the whole message of this kind.
std::string MessageOf(absl::string_view kind, json::Value request);

}  // namespace interpreter::webhook

#endif  // INTERPRETER_WEBHOOK_REQUEST_H_
