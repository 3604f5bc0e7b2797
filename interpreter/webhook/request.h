// Writing requests: what both dialects have in common.
#ifndef INTERPRETER_WEBHOOK_REQUEST_H_
#define INTERPRETER_WEBHOOK_REQUEST_H_

#include <string>

#include "absl/strings/string_view.h"
#include "base/json.h"
#include "interpreter/webhook/codec.h"

namespace interpreter::webhook {

// The member `request`, without `replicas`: the dialects differ there.
json::Value RequestOf(const Question& question, Dialect dialect);
// The whole message of this kind.
std::string MessageOf(absl::string_view kind, json::Value request);

}  // namespace interpreter::webhook

#endif  // INTERPRETER_WEBHOOK_REQUEST_H_
