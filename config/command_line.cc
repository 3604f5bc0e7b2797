// Parses command lines with CLI11 and turns its exceptions into one of three answers: run the
// program (""), print a text and end with success, or refuse with one sentence. CLI11 prints
// nothing itself, and throws nothing past this file. Words after the hidden command of shell
// completion are not parsed as a command line at all, since they are one that is not finished yet.

#include "config/command_line.h"

#include <iterator>
#include <utility>

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "base/yaml.h"
#include "config/internal/completion_scripts.h"
#include "config/internal/usage_error.h"
#include "config/internal/word_completion.h"
#include "config/version.h"

namespace config {
namespace {

constexpr int kFailedExitCode = 1;
constexpr char kHelp[] = "help";
constexpr char kVersion[] = "version";
constexpr char kCompletion[] = "completion";
constexpr char kOutput[] = "--output";

// The name by which a shell knows the program, also when kubectl has called it.
std::string FileName(const CLI::App& app) {
  return app.get_name().substr(app.get_name().rfind(' ') + 1);
}

void AddVersion(CLI::App& app) {
  app.add_subcommand(kVersion, "Print the version and how it was built")
      ->add_option("-o,--output", "json, yaml, or short for the version alone")
      ->check(CLI::IsMember({"json", "yaml", "short"}))
      ->type_name("FORMAT");
}

void AddCompletion(CLI::App& app) {
  CLI::App* completion = app.add_subcommand(
      kCompletion, "Print a script by which a shell completes commands and flags");
  completion->require_subcommand(1);
  for (const char* shell :
       {internal::kBash, internal::kFish, internal::kPowerShell, internal::kZsh}) {
    completion->add_subcommand(shell, std::string("Print the script for ") + shell)
        ->footer(internal::HowToLoad(FileName(app), shell));
  }
}

// All programs print their version in the same forms.
std::string VersionAnswer(CLI::App& app) {
  const CLI::Option* output = app.get_subcommand(kVersion)->get_option(kOutput);
  const std::string format = output->empty() ? "" : output->as<std::string>();
  if (format == "short") return absl::StrCat(Version(), "\n");
  if (format == "json") return absl::StrCat(json::Write(VersionInfo(), {.indent = 2}), "\n");
  if (format == "yaml") return yaml::Write(VersionInfo());
  return VersionText(app.get_name());
}

std::string CompletionAnswer(CLI::App& app) {
  const CLI::App* shell = app.get_subcommand(kCompletion)->get_subcommands().front();
  return internal::CompletionScript(internal::CompletionTree(app), FileName(app),
                                    shell->get_name());
}

// Returns the help of the command that the words after `help` name; without words that of the
// program.
absl::StatusOr<std::string> HelpOn(CLI::App& app, const std::vector<std::string>& words) {
  // The words after `help` were taken as extras of that command.
  app.clear();  // Without this it would be the help on `help` itself.
  CLI::App* command = &app;
  std::string before;
  for (const std::string& word : words) {
    absl::StrAppend(&before, before.empty() ? "" : " ", command->get_name());
    const std::vector<CLI::App*> named = command->get_subcommands(
        [&word](const CLI::App* below) { return below->get_name() == word; });
    if (named.empty()) return absl::InvalidArgumentError(internal::UnknownCommand(*command, word));
    command = named.front();
  }
  return command->help(before);
}

// Returns the help that --help asks for: that of the innermost command. CLI11 would print the help
// of the program for a command that does not exist.
absl::StatusOr<std::string> HelpAmong(CLI::App& app) {
  if (app.got_subcommand(kHelp)) {
    const std::vector<std::string> words = app.get_subcommand(kHelp)->remaining();
    return words.empty() ? app.help() : HelpOn(app, words);
  }
  const std::string unknown = internal::UnknownWord(app);
  if (!unknown.empty()) return absl::InvalidArgumentError(unknown);
  return app.help();
}

}  // namespace

int ExitCodeFor(const absl::Status& error) {
  const bool unusable =
      absl::IsInvalidArgument(error) || absl::IsNotFound(error) || absl::IsPermissionDenied(error);
  return unusable ? kUsageExitCode : kFailedExitCode;
}

void AddHelpAndVersion(CLI::App& app) {
  app.set_version_flag("--version", Version());
  // At most one command: the words after `help` must not be run.
  app.require_subcommand(static_cast<int>(app.get_require_subcommand_min()), 1);
  AddVersion(app);
  AddCompletion(app);
  app.add_subcommand(kHelp, "Print this help message, or that of a command: help COMMAND")
      ->allow_extras();  // These are the names of commands.
}

absl::StatusOr<std::string> ParseWords(CLI::App& app, int argc, const char* const* argv) {
  return ParseWords(app, std::vector<std::string>(std::reverse_iterator(argv + argc),
                                                  std::reverse_iterator(argv + 1)));
}

absl::StatusOr<std::string> ParseWords(CLI::App& app, std::vector<std::string> reversed) {
  if (!reversed.empty() && reversed.back() == internal::kCompleteWord) {
    return internal::CobraAnswer(
        internal::Complete(app, {std::next(reversed.rbegin()), reversed.rend()}));
  }
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    return HelpAmong(app);
  } catch (const CLI::CallForVersion& version) {
    return absl::StrCat(version.what(), "\n");
  } catch (const CLI::ParseError& error) {
    return absl::InvalidArgumentError(internal::UsageError(app, error));
  }
  if (app.got_subcommand(kVersion)) return VersionAnswer(app);
  if (app.got_subcommand(kCompletion)) return CompletionAnswer(app);
  if (!app.got_subcommand(kHelp)) return std::string();
  return HelpOn(app, app.get_subcommand(kHelp)->remaining());
}

}  // namespace config
