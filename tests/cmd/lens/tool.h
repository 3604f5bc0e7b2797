// Runs karmada-lens in this process: takes a command line, returns exit code and output.
#ifndef TESTS_CMD_LENS_TOOL_H_
#define TESTS_CMD_LENS_TOOL_H_

#include <sstream>
#include <string>
#include <vector>

#include "cmd/lens/all_commands.h"
#include "tool/command.h"
#include "tool/console.h"

namespace tests {

struct Ran {
  int code = 0;
  std::string out;
  std::string err;
};

inline Ran RunLens(const std::vector<std::string>& arguments, bool colours = false) {
  std::istringstream in;
  std::ostringstream out, err;
  tool::Console console{in, out, err, tool::Colours(colours), tool::Colours(colours)};
  tool::CommandLine line(cmd::lens::ThisProgram(), "karmada-lens");
  cmd::lens::AddAllCommands(line);
  std::vector<const char*> argv = {"karmada-lens"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  const int code = line.Run(static_cast<int>(argv.size()), argv.data(), console);
  return {code, out.str(), err.str()};
}

}  // namespace tests

#endif  // TESTS_CMD_LENS_TOOL_H_
