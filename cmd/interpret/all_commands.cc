#include "cmd/interpret/batch.h"
#include "cmd/interpret/bench.h"
#include "cmd/interpret/check.h"
#include "cmd/interpret/command.h"
#include "cmd/interpret/init.h"
#include "cmd/interpret/list.h"
#include "cmd/interpret/run.h"
#include "cmd/interpret/test.h"

namespace cmd::interpret {

void AddAllCommands(CommandLine& line) {
  AddInit(line);
  AddCheck(line);
  AddRun(line);
  AddTest(line);
  AddList(line);
  AddBench(line);
  AddBatch(line);
}

}  // namespace cmd::interpret
