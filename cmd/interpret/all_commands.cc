#include "cmd/interpret/all_commands.h"

#include "cmd/interpret/batch.h"
#include "cmd/interpret/bench.h"
#include "cmd/interpret/check.h"
#include "cmd/interpret/impact.h"
#include "cmd/interpret/init.h"
#include "cmd/interpret/list.h"
#include "cmd/interpret/run.h"
#include "cmd/interpret/test.h"

namespace cmd::interpret {
namespace {

constexpr char kFooter[] = R"(Exit codes:
  0  fine
  1  done, and the answer is bad: a mistake was found, a test failed, an operation failed
  2  not done: a wrong flag, an unreadable file, an unreachable server
`impact` has its own: 0 nothing changes, 2 something changes, 1 it could not be determined.

"%prog% COMMAND --help" has examples.)";

}  // namespace

tool::Program ThisProgram() {
  return {.name = "karmada-interpret",
          .description =
              "Checks, runs and tests what Karmada knows about kinds: customizations in "
              "Lua, webhooks, the\nshipped customizations and the built-in rules. Needs "
              "no cluster.",
          .footer = kFooter};
}

void AddAllCommands(tool::CommandLine& line) {
  AddInit(line);
  AddCheck(line);
  AddRun(line);
  AddTest(line);
  AddList(line);
  AddImpact(line);
  AddBench(line);
  AddBatch(line);
}

}  // namespace cmd::interpret
