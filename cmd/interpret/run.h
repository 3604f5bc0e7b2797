// karmada-interpret run: runs one operation on given objects.
#ifndef CMD_INTERPRET_RUN_H_
#define CMD_INTERPRET_RUN_H_

#include <string>

#include "base/json.h"
#include "cmd/interpret/layers.h"
#include "cmd/interpret/measurement.h"
#include "cmd/interpret/question_json.h"
#include "tool/command.h"

namespace cmd::interpret {

// Declares the sub-command.
void AddRun(tool::CommandLine& line);

// Returns, one line each, which layer answered, why the others did not, remarks on single webhooks,
// and the cost.
std::string TraceText(const Layers& layers, const interpreter::Question& question,
                      const Measured& measured, const tool::Colours& colours);

// Returns, for operations that return an object, how it differs from the input object, as a diff of
// YAML; for an aggregation only of the status. "" when nothing differs.
std::string ObjectDiff(const interpreter::Question& question, const json::Value& result,
                       const tool::Colours& colours);

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_RUN_H_
