#include "cmd/interpret/command.h"

#include <utility>

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "config/command_line.h"

namespace cmd::interpret {
namespace {

constexpr char kProgram[] = "karmada-interpret";
constexpr char kPlugin[] = "kubectl-karmada_interpret";
constexpr char kFooter[] = R"(Exit codes:
  0  fine
  1  done, and the answer is bad: a mistake was found, a test failed, an operation failed
  2  not done: a wrong flag, an unreadable file, an unreachable server

"%prog% COMMAND --help" has examples.)";

// Returns how the user called the program. kubectl finds plugins by their file name, which has
// underscores where the command line has dashes.
std::string NameOf(absl::string_view path) {
  const absl::string_view file = path.substr(path.rfind('/') + 1);
  return file == kPlugin ? "kubectl karmada-interpret" : kProgram;
}

ExitCode Unusable(absl::string_view message, Console& console) {
  console.err << console.err_colours.Red("error:") << " " << message << std::endl;
  return ExitCode::kUnusable;
}

// Returns `code`, or kUnusable when the output could not be written (a full disk, a reader that has
// gone).
ExitCode Written(ExitCode code, Console& console) {
  if (console.out.flush()) return code;
  return Unusable("standard output could not be written", console);
}

}  // namespace

CommandLine::CommandLine(const std::string& program)
    : program_(NameOf(program)),
      app_(std::make_unique<CLI::App>("Checks, runs and tests what Karmada knows about kinds: "
                                      "customizations in Lua, webhooks, the\n"
                                      "shipped customizations and the built-in rules. Needs no "
                                      "cluster.",
                                      program_)) {
  app_->require_subcommand(1);
  app_->footer(absl::StrReplaceAll(kFooter, {{"%prog%", program_}}));
}

CommandLine::~CommandLine() = default;

CLI::App& CommandLine::Add(const std::string& name, const std::string& summary,
                           const std::string& examples) {
  CLI::App* app = app_->add_subcommand(name, summary);
  app->footer(absl::StrReplaceAll(examples, {{"%prog%", program_}}));
  app->add_option("-v,--v", verbosity_,
                  "also write the log that a control plane would, up to this level")
      ->type_name("LEVEL");
  return *app;
}

void CommandLine::OnRun(CLI::App& app, Action action) {
  app.callback([this, action = std::move(action)] { action_ = action; });
}

ExitCode CommandLine::Run(int argc, const char* const* argv, Console& console) {
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

}  // namespace cmd::interpret
