// Reads admissionregistration's WebhookClientConfig, which says where a webhook is.
#ifndef INTERPRETER_WEBHOOK_CLIENT_CONFIG_H_
#define INTERPRETER_WEBHOOK_CLIENT_CONFIG_H_

#include <string>

#include "base/json.h"
#include "interpreter/webhook/hook.h"
#include "interpreter/webhook/problems.h"

namespace interpreter::webhook {

// `field` is the path of `config` in its document. Mistakes are added to `problems`; then the
// result must not be used.
ClientConfig ReadClientConfig(const json::Value& config, const std::string& field,
                              Problems& problems);

}  // namespace interpreter::webhook

#endif  // INTERPRETER_WEBHOOK_CLIENT_CONFIG_H_
