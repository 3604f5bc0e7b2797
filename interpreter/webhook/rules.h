// Reads the rules of a webhook: what it is asked about.
#ifndef INTERPRETER_WEBHOOK_RULES_H_
#define INTERPRETER_WEBHOOK_RULES_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "base/json.h"
#include "interpreter/webhook/hook.h"
#include "interpreter/webhook/problems.h"

namespace interpreter::webhook {

// `field` is where `rules` stands in its document. A rule that lacks something is put into
// `problems` and left out; an operation that the dialect does not have is reported and left out of
// its rule.
std::vector<Rule> ReadRules(absl::Span<const json::Value> rules, Dialect dialect,
                            const std::string& field, Problems& problems);

}  // namespace interpreter::webhook

#endif  // INTERPRETER_WEBHOOK_RULES_H_
