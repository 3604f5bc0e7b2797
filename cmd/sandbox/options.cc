// Parses the command line of karmada-sandbox. What stands behind "--" is cut off first and never
// parsed as flags of the sandbox: those words are passed to the controller manager. They are parsed
// once with the controller manager's own parser all the same, to refuse what it would refuse before
// any cluster is started, and because one of its feature gates determines how the sandbox plays the
// webhook.

#include "cmd/sandbox/options.h"

#include <CLI/CLI.hpp>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "api/programs.h"
#include "base/enumerated.h"
#include "config/admission_flags.h"
#include "config/command_line.h"
#include "config/duration.h"
#include "config/flag_types.h"
#include "config/options.h"
#include "config/permission_flags.h"
#include "config/release.h"
#include "config/shadow_flags.h"

namespace cmd {
namespace {

constexpr char kFooter[] = R"(Examples:
  karmada-sandbox up --members 2 --dir /tmp/sandbox
  export KUBECONFIG=/tmp/sandbox/karmada.kubeconfig   # In another terminal, also for kubectl.
  karmada-sandbox status
  karmada-sandbox member down member2
  karmada-sandbox manager down
  karmada-sandbox up --members 2 --pull-members 1   # member3 has a karmada-agent.
  karmada-sandbox up --search -- --feature-gates=Failover=true   # After "--": of the manager.

What it cannot do:
  containers, RBAC, admission and conversion webhooks, CEL rules, networks, volumes, load balancers,
  autoscaling inside a member. The whole list is "What it cannot do" in
  sandbox/README.md of the sources. What is refused says why.

Exit codes:
  0    fine
  1    it ran, or tried to, and failed
  2    it cannot run with what it was given: a wrong flag, an unusable directory, no such member
  130  Ctrl-C before the demo was over, or twice)";

constexpr int kMaxMembers = 100;
constexpr int kMaxNodes = 1000;
// Members have the ports behind that of the control plane, those in pull mode the last ones.
constexpr int kMaxPort = 65535 - 2 * kMaxMembers;

struct DurationFlag {
  std::string name;
  std::string help;
  bool may_be_zero = true;
};

void AddDuration(CLI::App& app, absl::Duration& target, const DurationFlag& flag) {
  const auto parse = [&target, flag](const std::string& text) {
    absl::Duration given;
    const absl::Status parsed = config::ParseGoDuration(text, given);
    if (!parsed.ok()) throw CLI::ValidationError(flag.name, std::string(parsed.message()));
    if (given < absl::ZeroDuration() || (given == absl::ZeroDuration() && !flag.may_be_zero)) {
      throw CLI::ValidationError(
          flag.name, absl::StrCat("\"", text, "\" is ",
                                  flag.may_be_zero ? "less than 0" : "not greater than 0"));
    }
    target = given;
  };
  app.add_option_function<std::string>(flag.name, parse, flag.help)
      ->type_name("DURATION")
      ->default_str(absl::FormatDuration(target));
}

// Limits the numbers that an option takes; its help shows `type` and not the limits.
void LimitTo(CLI::Option& option, int most, const std::string& type) {
  const auto check = [most](const std::string& text) -> std::string {
    int number = 0;
    if (absl::SimpleAtoi(text, &number) && number >= 0 && number <= most) return "";
    return absl::StrCat("\"", text, "\" is not a number from 0 to ", most);
  };
  option.check(check, "")->type_name(type)->capture_default_str();
}

void AddShared(CLI::App& app, SandboxOptions& o) {
  app.add_option(
         "--dir", o.directory,
         "where to write kubeconfigs and logs; kept afterwards (default: a fresh directory, "
         "removed at the end)")
      ->type_name("DIRECTORY");
  LimitTo(*app.add_option("--port", o.fleet.first_port,
                          "port of the control plane, members get the next ones; 0 picks free "
                          "ports"),
          kMaxPort, "PORT");
  app.add_option("--crds", o.fleet.crd_directory,
                 "directory of Karmada's definitions (*.yaml; default: those that came with the "
                 "program)")
      ->type_name("DIRECTORY");
  config::AddReleaseFlag(app, o.fleet.release,
                         "release of Karmada whose definitions, webhook and scheduler the control "
                         "plane has; without it that of the definitions, which is v1.18 for those "
                         "that came with the program");
  app.add_option("--with-controller-manager", o.controller_manager,
                 "program to run as controller manager, \"off\" for none, \"auto\" for the "
                 "karmada-controller-manager beside this program")
      ->type_name("PROGRAM")
      ->capture_default_str();
  AddDuration(app, o.fleet.ready_delay, {"--ready-delay", "from a pod's creation to Ready"});
  AddDuration(app, o.fleet.job_duration, {"--job-duration", "how long a job's pods run"});
}

void AddOutput(CLI::App& app, SandboxOptions& o, const std::string& help) {
  constexpr auto kFormats = base::Enumerate<bool>({{false, "text"}, {true, "json"}});
  config::AddChoice(app, "--output,-o", o.json, kFormats, help)->type_name("FORMAT");
}

void AddUp(CLI::App& app, SandboxOptions& o) {
  LimitTo(*app.add_option("--members", o.fleet.members, "number of member clusters"), kMaxMembers,
          "N");
  LimitTo(*app.add_option("--pull-members", o.fleet.pull_members,
                          "number of further member clusters, in pull mode: the karmada-agent "
                          "beside this program runs for each of them, too"),
          kMaxMembers, "N");
  LimitTo(*app.add_option("--nodes", o.fleet.nodes_per_member, "nodes in each member"), kMaxNodes,
          "N");
  app.add_flag(
      "--search", o.search,
      "run the karmada-search beside this program, too, behind the control plane's address");
  AddOutput(app, o, "json prints one object with addresses and kubeconfig paths");
}

void AddDemo(CLI::App& app, SandboxOptions& o) {
  const auto pull = [&o, all = o.fleet.members](int members) {
    o.fleet.pull_members = members;
    o.fleet.members = all - members;
  };
  LimitTo(*app.add_option_function<int>("--pull-members", pull,
                                        "number of the three members that are in pull mode: the "
                                        "karmada-agent beside this program runs for each of them")
               ->default_str("0"),
          o.fleet.members, "N");
  app.add_option("--samples", o.samples,
                 "directory of manifests (*.yaml) with a Deployment and its policy (default: the "
                 "demo that came with the program)")
      ->type_name("DIRECTORY");
  AddDuration(app, o.deadline, {"--deadline", "give up after this time", /*may_be_zero=*/false});
}

void AddRunningDirectory(CLI::App& app, SandboxOptions& o) {
  app.add_option("--dir", o.directory,
                 "the directory of the running sandbox (default: where the file of "
                 "KUBECONFIG lies)")
      ->type_name("DIRECTORY");
}

// Adds a command that does `action` to a part of a running sandbox.
CLI::App& AddAction(CLI::App& part, SandboxOptions& o, const std::string& action,
                    const std::string& help) {
  part.require_subcommand(1);
  CLI::App* command = part.add_subcommand(action, help);
  AddRunningDirectory(*command, o);
  command->callback([&o, action] { o.action = action; });
  return *command;
}

// Adds a command that does `action` to the part of a running sandbox that has the member's name.
void AddNamedAction(CLI::App& part, SandboxOptions& o, const std::string& action,
                    const std::string& help) {
  AddAction(part, o, action, help)
      .add_option("NAME", o.member, "the member cluster, such as member1")
      ->required()
      ->type_name("");
}

void AddMember(CLI::App& app, SandboxOptions& o) {
  AddNamedAction(app, o, "down", "Let a member refuse every connection; it keeps its objects");
  AddNamedAction(app, o, "up", "Let it answer again");
  AddNamedAction(app, o, "join",
                 "Let a member join again that has left (kubectl delete cluster NAME)");
}

void AddAgent(CLI::App& app, SandboxOptions& o) {
  AddNamedAction(app, o, "down", "Stop the agent of a member in pull mode; the member goes on");
  AddNamedAction(app, o, "up", "Start it again");
}

void AddManager(CLI::App& app, SandboxOptions& o) {
  AddAction(app, o, "down", "Stop it; the clusters go on");
  AddAction(app, o, "up", "Start it again");
}

ParsedCommandLine Refused(absl::string_view why) {
  return {config::kUsageExitCode,
          absl::StrCat("karmada-sandbox: ", why, "\nRun with --help for more information.\n"),
          {}};
}

// Returns why a controller manager that is started with such words does not run; "" if it does.
std::string WhyNotRun(const config::Parsed& parsed, const config::PermissionFlags& permissions) {
  const bool prints = parsed.outcome == config::Parsed::Outcome::kExit && parsed.exit_code == 0;
  if (prints || permissions.asked) {
    return "with these words the controller manager prints something and ends";
  }
  if (parsed.outcome != config::Parsed::Outcome::kExit) return "";
  const absl::string_view why = absl::StripPrefix(parsed.output, "Error: ");
  return std::string(why.substr(0, why.find('\n')));
}

// Takes over what the flags of the controller manager mean for the sandbox. kInvalidArgument when
// the program that lies beside this one would not run with them. Flags of another program are not
// checked.
absl::Status ReadManagerFlags(SandboxOptions& o) {
  std::vector<const char*> words = {api::kControllerManager};
  for (const std::string& flag : o.manager_flags) words.push_back(flag.c_str());
  config::AdmissionFlags admission;
  config::PermissionFlags permissions;
  config::ShadowFlags shadow;
  const config::Parsed parsed = config::ParseCommandLine(
      static_cast<int>(words.size()), words.data(), admission, permissions, shadow);
  if (const std::string why = WhyNotRun(parsed, permissions); !why.empty()) {
    // Another program may know flags that this parser does not.
    if (o.controller_manager != "auto") return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("behind \"--\": ", why));
  }
  if (!parsed.options.kubeconfig.empty()) {
    return absl::InvalidArgumentError(
        "behind \"--\": --kubeconfig is not for the controller manager of a sandbox, which works "
        "on "
        "the sandbox's control plane");
  }
  // karmada-webhook has this gate as well, and does the booking.
  o.fleet.enforce_quotas = parsed.options.gates.Enabled(config::Gate::kFederatedQuotaEnforcement);
  // karmada-scheduler has gates of the same names.
  o.fleet.scheduler_gates = parsed.options.gates;
  return absl::OkStatus();
}

}  // namespace

ParsedCommandLine ParseCommandLine(int argc, const char* const* argv) {
  ParsedCommandLine parsed;
  SandboxOptions& o = parsed.options;
  int own = 1;
  // CLI11 would take what stands behind "--" as positional arguments.
  while (own < argc && absl::string_view(argv[own]) != "--") ++own;
  for (int i = own + 1; i < argc; ++i) o.manager_flags.emplace_back(argv[i]);
  CLI::App app("A Karmada control plane and member clusters in one process, for trying things out.",
               "karmada-sandbox");
  app.require_subcommand(1);
  CLI::App* up = app.add_subcommand("up", "Start the clusters and serve them until Ctrl-C");
  CLI::App* demo = app.add_subcommand(
      "demo", "Show a Deployment land in three member clusters; stays up on a terminal");
  CLI::App* member = app.add_subcommand(
      "member", "Take a member of a running sandbox down and up, and let it join again");
  CLI::App* agent = app.add_subcommand(
      "agent", "Take the karmada-agent of a member in pull mode down, and up again");
  CLI::App* manager = app.add_subcommand(
      "manager", "Take the karmada-controller-manager of a running sandbox down, and up again");
  CLI::App* status = app.add_subcommand("status", "Show what runs in a running sandbox");
  AddRunningDirectory(*status, o);
  AddOutput(*status, o, "json prints one object");
  AddMember(*member, o);
  AddAgent(*agent, o);
  AddManager(*manager, o);
  AddShared(*up, o);
  AddUp(*up, o);
  AddShared(*demo, o);
  AddDemo(*demo, o);
  config::AddHelpAndVersion(app);
  app.footer(kFooter);  // Commands added later would inherit it.
  const absl::StatusOr<std::string> answer = config::ParseWords(app, own, argv);
  if (!answer.ok()) return Refused(answer.status().message());
  if (!answer->empty()) {
    parsed.exit_code = 0;
    parsed.output = *answer;
    return parsed;
  }
  using Command = SandboxOptions::Command;
  o.command = demo->parsed()      ? Command::kDemo
              : member->parsed()  ? Command::kMember
              : agent->parsed()   ? Command::kAgent
              : manager->parsed() ? Command::kManager
              : status->parsed()  ? Command::kStatus
                                  : Command::kUp;
  if (o.command == Command::kDemo && o.controller_manager == "off") {
    return Refused("the demo needs a controller manager: --with-controller-manager=off is for up");
  }
  // There is no "--".
  if (own == argc) return parsed;
  if (o.command != Command::kUp && o.command != Command::kDemo) {
    return Refused("flags of the controller manager, behind \"--\", belong to up and demo");
  }
  if (o.controller_manager == "off") {
    return Refused("there are flags behind \"--\", and no controller manager to have them");
  }
  const absl::Status known = ReadManagerFlags(o);
  return known.ok() ? parsed : Refused(known.message());
}

}  // namespace cmd
