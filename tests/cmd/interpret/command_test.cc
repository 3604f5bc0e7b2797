#include "cmd/interpret/command.h"

#include <catch2/catch.hpp>
#include <sstream>
#include <string>

#include "tests/cmd/interpret/tool.h"

using Catch::Contains;
using tests::Ran;
using tests::RunTool;

TEST_CASE("Help names the sub-commands and exit codes, and each has examples") {
  const Ran help = RunTool({"--help"});
  CHECK(help.code == 0);
  for (const char* name : {"check", "run", "test", "bench", "batch", "init", "list"}) {
    CHECK_THAT(help.out, Contains(std::string("\n  ") + name + " "));
    const Ran one = RunTool({name, "--help"});
    CHECK(one.code == 0);
    CHECK_THAT(one.out,
               Contains("Examples:\n") && Contains(std::string("karmada-interpret ") + name));
  }
  CHECK_THAT(help.out, Contains("Exit codes:"));
}

TEST_CASE("As a kubectl plugin it calls itself what the user typed") {
  std::istringstream in;
  std::ostringstream out, err;
  cmd::interpret::Console console{in, out, err};
  cmd::interpret::CommandLine line("/usr/local/bin/kubectl-karmada_interpret");
  cmd::interpret::AddAllCommands(line);
  const char* argv[] = {"kubectl-karmada_interpret", "run", "--help"};
  CHECK(line.Run(3, argv, console) == cmd::interpret::ExitCode::kFine);
  CHECK_THAT(out.str(), Contains("kubectl karmada-interpret run -f widget.yaml"));
}

TEST_CASE("A wrong command line is told on standard error, with exit code 2") {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{},
                                                    {"dance"},
                                                    {"run"},
                                                    {"list", "--what"},
                                                    {"list", "-o", "xml"}}) {
    const Ran ran = RunTool(arguments);
    CHECK(ran.code == 2);
    CHECK(ran.out.empty());
    CHECK_FALSE(ran.err.empty());
  }
}
