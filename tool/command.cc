#include "tool/command.h"

#include <utility>

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "config/command_line.h"

namespace tool {
namespace {

// Returns how the user called the program. kubectl finds plugins by their file name, which has
// underscores where the command line has dashes.
std::string NameOf(const std::string& name, absl::string_view path) {
  const absl::string_view file = path.substr(path.rfind('/') + 1);
  const std::string plugin = absl::StrCat("kubectl-", absl::StrReplaceAll(name, {{"-", "_"}}));
  return file == plugin ? absl::StrCat("kubectl ", name) : name;
}

ExitCode Unusable(absl::string_view message, Console& console) {
  console.err << console.err_colours.Red("error:") << " " << Printable(message) << std::endl;
  return ExitCode::kUnusable;
}

// Returns `code`, or kUnusable when the output could not be written (a full disk, a reader that has
// gone).
ExitCode Written(ExitCode code, Console& console) {
  if (console.out.flush()) return code;
  return Unusable("standard output could not be written", console);
}

}  // namespace

CommandLine::CommandLine(Program program, absl::string_view path)
    : program_(std::move(program)),
      called_(NameOf(program_.name, path)),
      app_(std::make_unique<CLI::App>(program_.description, called_)) {
  app_->require_subcommand(1);
  app_->footer(absl::StrReplaceAll(program_.footer, {{"%prog%", called_}}));
}

CommandLine::~CommandLine() = default;

CLI::App& CommandLine::Add(const std::string& name, const std::string& summary,
                           const std::string& examples) {
  CLI::App* app = app_->add_subcommand(name, summary);
  app->footer(absl::StrReplaceAll(examples, {{"%prog%", called_}}));
  app->add_option("-v,--v", verbosity_,
                  "also write the log that a control plane would, up to this level")
      ->type_name("LEVEL");
  return *app;
}

void CommandLine::OnRun(CLI::App& app, Action action) {
  app.callback([this, action = std::move(action)] { action_ = action; });
}

void CommandLine::UseExitNumbers(const CLI::App& app, ExitNumbers numbers) {
  own_numbers_[app.get_name()] = numbers;
}

ExitNumbers CommandLine::NumbersOf(int argc, const char* const* argv) const {
  // The program itself has no flags that take values, so the sub-command is the first word that is
  // no flag. The words are looked at here because they may be those that cannot be parsed.
  for (int i = 1; i < argc; ++i) {
    if (argv[i][0] == '-') continue;
    const auto own = own_numbers_.find(argv[i]);
    if (own != own_numbers_.end()) return own->second;
    break;
  }
  return {program_.failed, program_.unusable};
}

constexpr int kForbiddenExitCode = 3;

int CommandLine::Run(int argc, const char* const* argv, Console& console) {
  const ExitNumbers numbers = NumbersOf(argc, argv);
  switch (RunCommand(argc, argv, console)) {
    case ExitCode::kFine:
      return 0;
    case ExitCode::kFailed:
      return numbers.failed;
    case ExitCode::kForbidden:
      return kForbiddenExitCode;
    case ExitCode::kUnusable:
      break;
  }
  return numbers.unusable;
}

ExitCode CommandLine::RunCommand(int argc, const char* const* argv, Console& console) {
  config::AddHelpAndVersion(*app_);
  const absl::StatusOr<std::string> answer = config::ParseWords(*app_, argc, argv);
  if (!answer.ok()) {
    return Unusable(
        absl::StrCat(answer.status().message(), "\nRun with --help for more information."),
        console);
  }
  if (!answer->empty()) {
    console.out << *answer;
    return Written(ExitCode::kFine, console);
  }
  if (on_parsed_) on_parsed_(verbosity_);
  const absl::StatusOr<ExitCode> done = action_(console);
  if (done.ok()) return Written(*done, console);
  ShowProgress(console, "");
  return Unusable(done.status().message(), console);
}

}  // namespace tool
