#include "cmd/interpret/batch.h"
#include "cmd/interpret/command.h"

namespace cmd::interpret {

void AddAllCommands(CommandLine& line) { AddBatch(line); }

}  // namespace cmd::interpret
