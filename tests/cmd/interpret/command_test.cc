#include "tool/command.h"

#include <catch2/catch.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cmd/interpret/tool.h"
#include "tests/support/temp_directory.h"

using Catch::Contains;
using tests::Ran;
using tests::RunTool;

TEST_CASE("Help names the sub-commands and exit codes, and each has examples") {
  const Ran help = RunTool({"--help"});
  CHECK(help.code == 0);
  for (const char* name : {"check", "run", "test", "bench", "batch", "init", "list", "impact"}) {
    CHECK_THAT(help.out, Contains(std::string("\n  ") + name + " "));
    const Ran one = RunTool({name, "--help"});
    CHECK(one.code == 0);
    CHECK_THAT(one.out,
               Contains("Examples:\n") && Contains(std::string("karmada-interpret ") + name));
  }
  CHECK_THAT(help.out, Contains("Exit codes:"));
}

TEST_CASE("As a kubectl plugin it uses the name that the user typed") {
  std::istringstream in;
  std::ostringstream out, err;
  tool::Console console{in, out, err};
  tool::CommandLine line(cmd::interpret::ThisProgram(), "/usr/local/bin/kubectl-karmada_interpret");
  cmd::interpret::AddAllCommands(line);
  const char* argv[] = {"kubectl-karmada_interpret", "run", "--help"};
  CHECK(line.Run(3, argv, console) == 0);
  CHECK_THAT(out.str(), Contains("kubectl karmada-interpret run -f widget.yaml"));
}

TEST_CASE("A wrong command line is reported on standard error, with exit code 2") {
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

TEST_CASE("A sub-command that does not exist is named, and the nearest one") {
  CHECK(RunTool({"chekc"}).err ==
        "error: there is no command \"chekc\"; did you mean check?\n"
        "Run with --help for more information.\n");
  CHECK_THAT(RunTool({}).err, Contains("error: a command is missing; there are init, check"));
  CHECK_THAT(RunTool({"dance"}).err,
             Contains("there is no command \"dance\"; there are init, check"));
}

TEST_CASE("A choice is shown, and taken, by its names") {
  for (const char* command : {"list", "check", "bench", "run"}) {
    const Ran help = RunTool({command, "--help"});
    CHECK_THAT(help.out, Contains(",json}") && !Contains("->"));
  }
  const Ran number = RunTool({"list", "-o", "2"});
  CHECK(number.code == 2);
  CHECK_THAT(number.err, Contains("\"2\" is none of table, yaml, json") && !Contains("->"));
  CHECK_THAT(RunTool({"list", "Job", "-o", "yaml"}).out, Contains("- answers: true\n"));
}

TEST_CASE("Output that cannot be written is an error of every sub-command") {
  const tests::TempDirectory dir;
  const std::string rules = dir.Write("rules.yaml", tests::kWidgetHealth);
  const std::string widget = dir.Write("w.yaml", tests::kReadyWidget);
  const std::string cases = dir.Write("cases.yaml",
                                      "operation: InterpretHealth\nobservedObj: {apiVersion: "
                                      "example.io/v1, kind: Widget, status: {}}\n");
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"--help"},
           {"list"},
           {"check", rules},
           {"test", cases, "-f", rules},
           {"run", "--operation", "InterpretHealth", "--observed", widget, "-f", rules},
           {"bench", widget, "-f", rules, "--time", "1ms"},
           {"batch"},
           {"init", "Widget", "--api-version", "example.io/v1", "--dir", dir.path() + "/new"}}) {
    std::istringstream in("{}\n");
    std::ostringstream err;
    std::ostream full(nullptr);  // Every write fails.
    tool::Console console{in, full, err};
    tool::CommandLine line(cmd::interpret::ThisProgram(), "karmada-interpret");
    cmd::interpret::AddAllCommands(line);
    std::vector<const char*> argv = {"karmada-interpret"};
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    INFO(arguments[0]);
    CHECK(line.Run(static_cast<int>(argv.size()), argv.data(), console) == 2);
    CHECK(err.str() == "error: standard output could not be written\n");
  }
}

TEST_CASE("What is given and holds nothing is an error, not silence") {
  const tests::TempDirectory dir;
  dir.Write("sub/rules.yaml", tests::kWidgetHealth);
  const std::string widget = dir.Write("w.yaml", tests::kReadyWidget);
  const std::string empty = dir.Write("empty.yaml", "# nothing\n");
  const std::string flat = dir.Write("flat/w.yaml", tests::kReadyWidget);
  const std::string folder = dir.path() + "/flat";
  for (std::vector<std::string> arguments : std::vector<std::vector<std::string>>{
           {"list"},
           {"check"},
           {"test", widget},
           {"run", "--operation", "InterpretHealth", "--observed", widget},
           {"bench", widget, "--time", "1ms"},
           {"batch"}}) {
    arguments.insert(arguments.end(), {"-f", dir.path()});
    const Ran shallow = RunTool(arguments);
    CHECK(shallow.code == 2);
    CHECK(shallow.err ==
          "error: no customizations in " + dir.path() + " (use -R for folders below it)\n");
    arguments.back() = empty;
    CHECK(RunTool(arguments).err == "error: no customizations in " + empty + "\n");
    arguments.back() = folder;
    CHECK(RunTool(arguments).err == "error: no customizations in " + folder + "\n");
  }
  const Ran hooks = RunTool({"list", "--webhook", folder});
  CHECK(hooks.code == 2);
  CHECK(hooks.err == "error: no configurations of webhooks in " + folder + "\n");
  CHECK(RunTool({"list", "Widget", "-R", "-f", dir.path()}).code == 0);
}
