// What all programs do alike with their command line: `help`, `help COMMAND`, `version`, --help, -h
// and --version, and a sentence about what is wrong with it.
#ifndef CONFIG_COMMAND_LINE_H_
#define CONFIG_COMMAND_LINE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace CLI {
class App;
}

namespace config {

// Adds the flag --version and the commands `version` and `help`. Add the program's own commands
// first: that is the order in which help lists them.
void AddHelpAndVersion(CLI::App& app);

// Parses the words of a command line for an app that AddHelpAndVersion() was called on. Returns ""
// when the program has to run, and what to print when it was asked for help or its version.
// kInvalidArgument is a sentence about a mistake, without a full stop.
absl::StatusOr<std::string> ParseWords(CLI::App& app, int argc, const char* const* argv);
// Takes the words without the program's name, the last one first, as CLI11 wants them.
absl::StatusOr<std::string> ParseWords(CLI::App& app, std::vector<std::string> reversed);

}  // namespace config

#endif  // CONFIG_COMMAND_LINE_H_
