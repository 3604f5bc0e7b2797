// karmada-interpret batch: one JSON request a line, one JSON answer a line, in order.
#ifndef CMD_INTERPRET_BATCH_H_
#define CMD_INTERPRET_BATCH_H_

#include <string>

#include "absl/strings/string_view.h"
#include "base/json.h"
#include "cmd/interpret/command.h"
#include "cmd/interpret/layers.h"

namespace cmd::interpret {

// Declares the sub-command.
void AddBatch(CommandLine& line);

// The answer to one line: {"id":…,"layer":…,"by":…,"result":…}, or {"id":…,"error":…} with the id
// of the request, null when it has none or is not JSON.
json::Value AnswerLine(Layers& layers, absl::string_view line);

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_BATCH_H_
