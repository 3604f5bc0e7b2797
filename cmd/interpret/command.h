// The command line of karmada-interpret: sub-commands, help, exit codes.
#ifndef CMD_INTERPRET_COMMAND_H_
#define CMD_INTERPRET_COMMAND_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "cmd/interpret/console.h"
#include "config/command_line.h"

namespace CLI {
class App;
}

namespace cmd::interpret {

enum class ExitCode {
  kFine = 0,
  // It was done, with a bad result: a mistake found, a failed test, an operation's error.
  kFailed = 1,
  // It could not be done: a wrong flag, an unreadable file, an unreachable server.
  kUnusable = config::kUsageExitCode,
};

// A sub-command that is ready to run. An error means an input that cannot be used: kUnusable.
using Action = std::function<absl::StatusOr<ExitCode>(Console&)>;

class CommandLine {
 public:
  // `program` is how the user called it; for a kubectl plugin, help says "kubectl
  // karmada-interpret".
  explicit CommandLine(const std::string& program);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // "karmada-interpret" or "kubectl karmada-interpret".
  const std::string& program() const { return program_; }

  // Declares a sub-command. `examples` end its help; %prog% in them is replaced by the program's
  // name.
  CLI::App& Add(const std::string& name, const std::string& summary, const std::string& examples);
  // Sets what to do when `app` is chosen.
  void OnRun(CLI::App& app, Action action);

  // Sets a function to be called between parsing and running, with -v if it was given: logging can
  // begin there.
  void OnParsed(std::function<void(std::optional<int> verbosity)> on_parsed) {
    on_parsed_ = std::move(on_parsed);
  }

  // Parses and runs. Help goes to `out`, errors to `err`. Returns kUnusable when `out` cannot be
  // written.
  ExitCode Run(int argc, const char* const* argv, Console& console);

 private:
  std::string program_;
  std::unique_ptr<CLI::App> app_;
  Action action_;
  std::optional<int> verbosity_;
  std::function<void(std::optional<int>)> on_parsed_;
};

// Adds all sub-commands of this program.
void AddAllCommands(CommandLine& line);

}  // namespace cmd::interpret

#endif  // CMD_INTERPRET_COMMAND_H_
