#include "cmd/interpret/command.h"

#include <sstream>
#include <utility>

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "config/version.h"

namespace cmd::interpret {
namespace {

constexpr char kProgram[] = "karmada-interpret";
constexpr char kPlugin[] = "kubectl-karmada_interpret";
constexpr char kFooter[] = R"(Exit codes:
  0  fine
  1  done, and the answer is bad: a mistake was found, a test failed, an operation failed
  2  not done: a wrong flag, an unreadable file, an unreachable server

"%prog% COMMAND --help" has examples.)";

// kubectl calls plugins by their file name, with underscores where its command line has dashes.
std::string NameOf(absl::string_view path) {
  const absl::string_view file = path.substr(path.rfind('/') + 1);
  return file == kPlugin ? "kubectl karmada-interpret" : kProgram;
}

}  // namespace

CommandLine::CommandLine(const std::string& program)
    : program_(NameOf(program)),
      app_(std::make_unique<CLI::App>("Checks, runs and tests what Karmada knows about kinds: "
                                      "customizations in Lua, webhooks, the\n"
                                      "shipped customizations and the built-in rules. Needs no "
                                      "cluster.",
                                      program_)) {
  app_->set_version_flag("--version", config::Version());
  app_->require_subcommand(1);
  app_->footer(absl::StrReplaceAll(kFooter, {{"%prog%", program_}}));
}

CommandLine::~CommandLine() = default;

CLI::App& CommandLine::Add(const std::string& name, const std::string& summary,
                           const std::string& examples) {
  CLI::App* app = app_->add_subcommand(name, summary);
  app->footer(absl::StrReplaceAll(examples, {{"%prog%", program_}}));
  return *app;
}

void CommandLine::OnRun(CLI::App& app, Action action) {
  app.callback([this, action = std::move(action)] { action_ = action; });
}

ExitCode CommandLine::Run(int argc, const char* const* argv, Console& console) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out, err;
    const int code = app_->exit(error, out, err);
    (code == 0 ? console.out : console.err) << out.str() << err.str();
    return code == 0 ? ExitCode::kFine : ExitCode::kUnusable;
  }
  const absl::StatusOr<ExitCode> done = action_(console);
  if (done.ok()) return *done;
  ShowProgress(console, "");
  console.err << console.err_colours.Red("error:") << " " << done.status().message() << std::endl;
  return ExitCode::kUnusable;
}

}  // namespace cmd::interpret
