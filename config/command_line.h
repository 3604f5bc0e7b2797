// The parts of a command line that all programs share: `help`, `help COMMAND`, `version`,
// `completion SHELL`, --help, -h and --version, and one sentence about a mistake.
#ifndef CONFIG_COMMAND_LINE_H_
#define CONFIG_COMMAND_LINE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace CLI {
class App;
}

namespace config {

// The exit code of every program of this project but karmada-lens when it cannot use what the user
// gave it: a mistake on the command line, an unusable kubeconfig.
inline constexpr int kUsageExitCode = 2;

// Returns the exit code for an error of a program: kUsageExitCode when the user has to give it
// something else (kInvalidArgument, kNotFound, kPermissionDenied), else 1.
int ExitCodeFor(const absl::Status& error);

// Adds the flag --version and the commands `version`, `completion` and `help`. Add the program's
// own commands first, because help lists them in the order of adding.
void AddHelpAndVersion(CLI::App& app);

// Parses the words of a command line for an app that AddHelpAndVersion() was called on. Returns ""
// when the program has to run; else the text to print, when help, the version or completions were
// asked for. kInvalidArgument is a sentence about a mistake, without a full stop.
absl::StatusOr<std::string> ParseWords(CLI::App& app, int argc, const char* const* argv);
// As above, but takes the words without the program's name, the last one first, as CLI11 wants
// them.
absl::StatusOr<std::string> ParseWords(CLI::App& app, std::vector<std::string> reversed);

}  // namespace config

#endif  // CONFIG_COMMAND_LINE_H_
