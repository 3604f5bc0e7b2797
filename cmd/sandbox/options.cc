#include "cmd/sandbox/options.h"

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "config/command_line.h"
#include "config/duration.h"

namespace cmd {
namespace {

constexpr int kMaxMembers = 100;
constexpr int kMaxNodes = 1000;
constexpr int kMaxPort = 65535 - kMaxMembers;

void AddDuration(CLI::App& app, const std::string& name, absl::Duration& target,
                 const std::string& help) {
  app.add_option_function<std::string>(
         name,
         [&target, name](const std::string& text) {
           const absl::Status parsed = config::ParseGoDuration(text, target);
           if (!parsed.ok()) throw CLI::ValidationError(name, std::string(parsed.message()));
         },
         help)
      ->type_name("DURATION")
      ->default_str(absl::FormatDuration(target));
}

void AddShared(CLI::App& app, SandboxOptions& o) {
  app.add_option(
      "--dir", o.directory,
      "where to write kubeconfigs and logs; kept afterwards (default: a fresh directory, "
      "removed at the end)");
  app.add_option("--port", o.fleet.first_port,
                 "port of the control plane, members get the next ones; 0 picks free ports")
      ->check(CLI::Range(0, kMaxPort))
      ->capture_default_str();
  app.add_option("--crds", o.fleet.crd_directory,
                 "directory of Karmada's definitions (*.yaml; default: those that came with the "
                 "program)");
  app.add_option("--with-controller-manager", o.controller_manager,
                 "program to run as controller manager, \"off\" for none, \"auto\" for the "
                 "karmada-controller-manager beside this program")
      ->capture_default_str();
  AddDuration(app, "--ready-delay", o.fleet.ready_delay, "from a pod's creation to Ready");
  AddDuration(app, "--job-duration", o.fleet.job_duration, "how long a job's pods run");
}

void AddUp(CLI::App& app, SandboxOptions& o) {
  app.add_option("--members", o.fleet.members, "number of member clusters")
      ->check(CLI::Range(0, kMaxMembers))
      ->capture_default_str();
  app.add_option("--nodes", o.fleet.nodes_per_member, "nodes in each member")
      ->check(CLI::Range(0, kMaxNodes))
      ->capture_default_str();
  app.add_option_function<std::string>(
         "--output,-o", [&o](const std::string& format) { o.json = format == "json"; },
         "json prints one object with addresses and kubeconfig paths")
      ->check(CLI::IsMember({"text", "json"}))
      ->default_str("text");
}

void AddDemo(CLI::App& app, SandboxOptions& o) {
  app.add_option("--samples", o.samples,
                 "directory of manifests (*.yaml) with a Deployment and its policy (default: the "
                 "demo that came with the program)");
  AddDuration(app, "--deadline", o.deadline, "give up after this time");
}

// Adds the commands "down" and "up" to `part`, a part of a running sandbox.
void AddDownAndUp(CLI::App& part, SandboxOptions& o, const std::string& down_help,
                  const std::string& up_help) {
  part.require_subcommand(1);
  for (const bool down : {true, false}) {
    CLI::App* command = part.add_subcommand(down ? "down" : "up", down ? down_help : up_help);
    command->add_option("--dir", o.directory,
                        "the directory of the running sandbox (default: where the file of "
                        "KUBECONFIG lies)");
    command->callback([&o, down] { o.down = down; });
  }
}

void AddMember(CLI::App& app, SandboxOptions& o) {
  AddDownAndUp(app, o, "Let a member refuse every connection; it keeps its objects",
               "Let it answer again");
  for (CLI::App* command : app.get_subcommands(nullptr)) {
    command->add_option("NAME", o.member, "the member cluster, such as member1")->required();
  }
}

}  // namespace

ParsedCommandLine ParseCommandLine(int argc, const char* const* argv) {
  ParsedCommandLine parsed;
  SandboxOptions& o = parsed.options;
  CLI::App app("A Karmada control plane and member clusters in one process, for trying things out.",
               "karmada-sandbox");
  app.require_subcommand(1);
  CLI::App* up = app.add_subcommand("up", "Start the clusters and serve them until Ctrl-C");
  CLI::App* demo = app.add_subcommand(
      "demo", "Show a Deployment land in three member clusters; stays up on a terminal");
  CLI::App* member =
      app.add_subcommand("member", "Take a member of a running sandbox down, and up again");
  CLI::App* manager = app.add_subcommand(
      "manager", "Take the karmada-controller-manager of a running sandbox down, and up again");
  AddMember(*member, o);
  AddDownAndUp(*manager, o, "Stop it; the clusters go on", "Start it again");
  AddShared(*up, o);
  AddUp(*up, o);
  AddShared(*demo, o);
  AddDemo(*demo, o);
  config::AddHelpAndVersion(app);
  const absl::StatusOr<std::string> answer = config::ParseWords(app, argc, argv);
  if (!answer.ok()) {
    parsed.exit_code = config::kUsageExitCode;
    parsed.output = absl::StrCat("karmada-sandbox: ", answer.status().message(),
                                 "\nRun with --help for more information.\n");
    return parsed;
  }
  if (!answer->empty()) {
    parsed.exit_code = 0;
    parsed.output = *answer;
    return parsed;
  }
  using Command = SandboxOptions::Command;
  o.command = demo->parsed()      ? Command::kDemo
              : member->parsed()  ? Command::kMember
              : manager->parsed() ? Command::kManager
                                  : Command::kUp;
  return parsed;
}

}  // namespace cmd
