// Reads the rules of a webhook, which say what the webhook is asked about.
#ifndef INTERPRETER_WEBHOOK_RULES_H_
#define INTERPRETER_WEBHOOK_RULES_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "base/json.h"
#include "interpreter/webhook/hook.h"
#include "interpreter/webhook/problems.h"

namespace interpreter::webhook {

// `field` is the path of `rules` in its document. A rule that lacks a list is reported in
// `problems` and left out; an operation that the dialect does not have is reported and left out of
// its rule.
std::vector<Rule> ReadRules(absl::Span<const json::Value> rules, Dialect dialect,
                            const std::string& field, Problems& problems);

}  // namespace interpreter::webhook

#endif  // INTERPRETER_WEBHOOK_RULES_H_
