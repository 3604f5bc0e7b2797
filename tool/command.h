// The command line of a program for people: sub-commands, help, exit codes.
#ifndef TOOL_COMMAND_H_
#define TOOL_COMMAND_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "config/command_line.h"
#include "tool/console.h"

namespace CLI {
class App;
}

namespace tool {

// How a command ended. The number that a shell sees is the program's choice.
enum class ExitCode {
  kFine,
  // It was done, with a bad result: a mistake found, a failed test, an operation's error.
  kFailed,
  // It could not be done: a wrong flag, an unreadable file, an unreachable server.
  kUnusable,
  // It was done, and has found what the caller has said that it must not find. The number is 3 in
  // every program.
  kForbidden,
};

// What differs from program to program.
struct Program {
  std::string name;                       // "karmada-interpret"
  std::string description;                // For the beginning of --help.
  std::string footer;                     // For its end; %prog% is replaced by the program's name.
  int failed = 1;                         // The number for kFailed.
  int unusable = config::kUsageExitCode;  // The number for kUnusable.
};

// The numbers that a shell sees of a sub-command whose numbers are not its program's.
struct ExitNumbers {
  int failed = 1;
  int unusable = config::kUsageExitCode;
};

// A sub-command that is ready to run. An error means an input that cannot be used: kUnusable.
using Action = std::function<absl::StatusOr<ExitCode>(Console&)>;

class CommandLine {
 public:
  // `path` is how the user called the program; for a kubectl plugin, help says "kubectl
  // karmada-interpret".
  CommandLine(Program program, absl::string_view path);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // "karmada-interpret" or "kubectl karmada-interpret".
  const std::string& program() const { return called_; }

  // Declares a sub-command. `examples` end its help; %prog% in them is replaced by the program's
  // name.
  CLI::App& Add(const std::string& name, const std::string& summary, const std::string& examples);
  // Sets what to do when `app` is chosen.
  void OnRun(CLI::App& app, Action action);
  // Sets the sub-command's own exit codes. They hold for its wrong flags, too.
  void UseExitNumbers(const CLI::App& app, ExitNumbers numbers);

  // Sets a function to be called between parsing and running, with -v if it was given: logging can
  // begin there.
  void OnParsed(std::function<void(std::optional<int> verbosity)> on_parsed) {
    on_parsed_ = std::move(on_parsed);
  }

  // Parses and runs. Help goes to `out`, errors to `err`. Returns the number to exit with: that for
  // kUnusable also when `out` cannot be written.
  int Run(int argc, const char* const* argv, Console& console);

 private:
  // Returns the numbers of the sub-command that is named, or of the program.
  ExitNumbers NumbersOf(int argc, const char* const* argv) const;
  ExitCode RunCommand(int argc, const char* const* argv, Console& console);

  Program program_;
  std::string called_;
  std::unique_ptr<CLI::App> app_;
  Action action_;
  std::map<std::string, ExitNumbers> own_numbers_;  // By sub-command.
  std::optional<int> verbosity_;
  std::function<void(std::optional<int>)> on_parsed_;
};

}  // namespace tool

#endif  // TOOL_COMMAND_H_
