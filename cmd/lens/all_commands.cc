#include "cmd/lens/all_commands.h"

#include "cmd/lens/explain.h"
#include "cmd/lens/graph.h"
#include "cmd/lens/plan.h"
#include "cmd/lens/preflight.h"
#include "cmd/lens/serve.h"
#include "cmd/lens/why.h"

namespace cmd::lens {
namespace {

constexpr char kFooter[] = R"(Exit codes:
  0  fine: nothing hangs, nothing differs; preflight: nothing would be lost, but it may differ
  1  not done: a wrong flag, an unreadable file, an unreachable server; preflight: not all could be
     determined
  2  done, and there is something to see: a template that does not arrive, a difference; preflight:
     something would be lost
  3  plan: it warns of what --fail-on names

"%prog% COMMAND --help" has examples.)";

}  // namespace

tool::Program ThisProgram() {
  return {.name = "karmada-lens",
          .description =
              "Shows what becomes of a template on its way from a Karmada control plane "
              "to the members, and\nwhat stops it. Only reads.",
          .footer = kFooter,
          // A pull-request check has to see a difference from an error: 2 reports a difference, and
          // 1 an error.
          .failed = 2,
          .unusable = 1};
}

void AddAllCommands(tool::CommandLine& line) {
  AddPlan(line);
  AddGraph(line);
  AddWhy(line);
  AddPreflight(line);
  AddExplain(line);
  AddServe(line);
}

}  // namespace cmd::lens
