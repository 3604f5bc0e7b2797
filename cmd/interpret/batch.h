// karmada-interpret batch: reads one JSON request per line and writes one JSON answer per line, in
// order.
#ifndef CMD_INTERPRET_BATCH_H_
#define CMD_INTERPRET_BATCH_H_

#include <string>

#include "absl/strings/string_view.h"
#include "cmd/interpret/layers.h"
#include "tool/command.h"

namespace cmd::interpret {

// Declares the sub-command.
void AddBatch(tool::CommandLine& line);

// Returns the answer to one line, without a line end: {"id":…,"layer":…,"by":…,"result":…}, or
// {"id":…,"error":…}. The id is that of the request, as it is written there; null when the request
// has none or is not a JSON object.
std::string AnswerLine(Layers& layers, absl::string_view line);

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_BATCH_H_
