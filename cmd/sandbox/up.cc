// Starts a session, the programs beside it, prints how to use them, and serves until it is told to
// stop. With -o json standard output has exactly one object, so everything else is printed on
// standard error. A program that ends by itself is reported once for each end; it is not started
// again, since a crash is what users of a sandbox want to see.

#include "cmd/sandbox/up.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "api/programs.h"
#include "api/search_paths.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/status.h"

namespace cmd {
namespace {

constexpr absl::Duration kCheck = absl::Milliseconds(200);
constexpr char kControlPlane[] = "karmada";

json::Value Running(const Daemon& daemon) {
  return json::Value::Object(
      {{"pid", static_cast<int64_t>(daemon.pid())}, {"log", daemon.log_file()}});
}

json::Value Described(Session& session, const std::string& name, const std::string& url) {
  return json::Value::Object(
      {{"name", name}, {"url", url}, {"kubeconfig", session.KubeconfigPath(name)}});
}

std::string AsJson(Session& session) {
  sandbox::Fleet& fleet = session.fleet();
  json::Value members = json::Value::Array();
  for (const std::string& name : fleet.member_names()) {
    json::Value member = Described(session, name, fleet.member(name)->url());
    member.Set("mode", fleet.IsPull(name) ? "Pull" : "Push");
    if (const Daemon* const agent = session.AgentOf(name)) member.Set("agent", Running(*agent));
    members.Append(std::move(member));
  }
  json::Value out = json::Value::Object(
      {{"controlPlane", Described(session, kControlPlane, fleet.control_plane().url())},
       {"members", members},
       {"directory", session.directory().path()}});
  const Daemon& daemon = session.daemon();
  if (daemon.exists()) {
    out.Set("controllerManager", Running(daemon));
  }
  if (SearchBeside* const search = session.search()) {
    json::Value running = Running(search->daemon());
    running.Set("url", search->url());
    out.Set("search", std::move(running));
  }
  return json::Write(out);
}

// A program beside the clusters, whose end by itself is reported.
struct Watched {
  std::string name;
  Daemon* daemon;
  std::string again;  // The command that starts it again; "" when there is none.
  bool reported = false;
};

std::string ManagerLine(Session& session, const tool::Colours& colours) {
  if (session.daemon().exists()) {
    return absl::StrCat("karmada-controller-manager runs beside it; it logs to ",
                        session.daemon().log_file());
  }
  return absl::StrCat(colours.Yellow("No controller manager runs: nothing propagates until you "
                                     "start one with"),
                      "\n  ", CommandFor(api::kControllerManager), " ",
                      absl::StrJoin(session.ManagerArguments(), " "));
}

}  // namespace

std::string Instructions(Session& session, const tool::Colours& colours,
                         const std::vector<std::string>& examples) {
  sandbox::Fleet& fleet = session.fleet();
  const std::vector<std::string> members = fleet.member_names();
  std::string out;
  const auto address = [&](const std::string& name, const std::string& url) {
    absl::StrAppendFormat(&out, "  %-16s %s  %s\n", name, url,
                          colours.Dim(session.KubeconfigPath(name)));
  };
  const auto command = [&](const std::string& text) {
    absl::StrAppend(&out, "  ", colours.Bold(text), "\n");
  };
  address(kControlPlane, fleet.control_plane().url());
  for (const std::string& name : members) address(name, fleet.member(name)->url());
  absl::StrAppend(&out, "\n", ManagerLine(session, colours), "\n");
  if (session.search() != nullptr) {
    absl::StrAppend(&out, "karmada-search runs beside it; it logs to ",
                    session.search()->daemon().log_file(), "\n");
  }
  std::string pulled;  // The last member with an agent.
  for (const std::string& name : members) {
    const Daemon* const agent = session.AgentOf(name);
    if (agent == nullptr) continue;
    absl::StrAppend(&out, "The karmada-agent of ", name, " runs beside it; it logs to ",
                    agent->log_file(), "\n");
    pulled = name;
  }
  absl::StrAppend(&out, "\nFrom another terminal:\n");
  command(absl::StrCat("export KUBECONFIG=", session.KubeconfigPath(kControlPlane)));
  for (const std::string& example : examples) command(example);
  if (session.search() != nullptr) {
    command("kubectl get resourceregistries");
    command(absl::StrCat(
        "kubectl --server=", fleet.control_plane().url(), api::kProxyingPath,
        "/karmada/proxy get pods -A   # of all members, once a registry selects them"));
  }
  if (!members.empty()) {
    command(absl::StrCat("kubectl --kubeconfig ", session.KubeconfigPath(members.front()),
                         " get pods -A"));
    command(absl::StrCat(CommandFor("karmada-sandbox"), " member down ", members.back(),
                         "   # and back again: member up ", members.back()));
  }
  if (!pulled.empty()) {
    command(absl::StrCat(CommandFor("karmada-sandbox"), " agent down ", pulled,
                         "   # and back again: agent up ", pulled));
  }
  if (session.daemon().exists()) {
    command(absl::StrCat(CommandFor("karmada-sandbox"),
                         " manager down   # the controller manager; and back again: manager up"));
  }
  absl::StrAppend(&out, "\nCtrl-C ends it.");
  return out;
}

void ServeUntil(const base::StopToken& stop, Session& session, std::ostream& out,
                const tool::Colours& colours) {
  std::vector<Watched> programs = {{api::kControllerManager, &session.daemon(), "manager up"}};
  if (SearchBeside* const search = session.search()) {
    programs.push_back({"karmada-search", &search->daemon(), ""});
  }
  for (const std::string& name : session.fleet().member_names()) {
    Daemon* const agent = session.AgentOf(name);
    if (agent == nullptr) continue;
    programs.push_back(
        {absl::StrCat("The karmada-agent of ", name), agent, absl::StrCat("agent up ", name)});
  }
  while (base::RealClock().SleepFor(kCheck, stop)) {
    for (Watched& program : programs) {
      const std::optional<std::string> ended = program.daemon->EndedByItself();
      if (ended.has_value() && !program.reported) {
        out << colours.Red(
                   absl::StrCat(program.name, " ", *ended, "; see ", program.daemon->log_file()))
            << std::endl;
        if (!program.again.empty()) {
          out << "To start it again:\n  " << CommandFor("karmada-sandbox") << " " << program.again
              << " --dir " << session.directory().path() << std::endl;
        }
      }
      // A command that starts it resets it, so that the next end is reported again.
      program.reported = ended.has_value();
    }
  }
}

absl::Status RunUp(const SandboxOptions& options, const base::StopToken& stop) {
  tool::Console console = tool::StandardConsole();
  // With --output json, standard output gets the one object and nothing else.
  std::ostream& notices = options.json ? console.err : console.out;
  const tool::Colours& colours = options.json ? console.err_colours : console.out_colours;
  ASSIGN_OR_RETURN(const std::string program, FindControllerManager(options.controller_manager));
  const base::SteadyTime start = base::RealClock().SteadyNow();
  ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, Session::Open(options));
  if (!program.empty()) RETURN_IF_ERROR(session->daemon().Start(program));
  RETURN_IF_ERROR(session->StartAgents());
  if (options.search) RETURN_IF_ERROR(session->StartSearch());
  if (!session->earlier_run().empty()) notices << session->earlier_run() << std::endl;
  if (options.json) {
    console.out << AsJson(*session) << std::endl;
  } else {
    console.out << "A Karmada control plane and "
                << tool::Count(options.fleet.members + options.fleet.pull_members, "member cluster")
                << " are up (" << tool::Seconds(base::RealClock().SteadyNow() - start) << ").\n\n"
                << Instructions(*session, colours) << std::endl;
  }
  ServeUntil(stop, *session, notices, colours);
  return absl::OkStatus();
}

}  // namespace cmd
