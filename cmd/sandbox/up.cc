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

json::Value Described(Session& session, const std::string& name, const std::string& url) {
  return json::Value::Object(
      {{"name", name}, {"url", url}, {"kubeconfig", session.KubeconfigPath(name)}});
}

std::string AsJson(Session& session) {
  sandbox::Fleet& fleet = session.fleet();
  json::Value members = json::Value::Array();
  for (const std::string& name : fleet.member_names()) {
    members.Append(Described(session, name, fleet.member(name)->url()));
  }
  json::Value out = json::Value::Object(
      {{"controlPlane", Described(session, kControlPlane, fleet.control_plane().url())},
       {"members", members},
       {"directory", session.directory().path()}});
  const Daemon& daemon = session.daemon();
  if (daemon.exists()) {
    out.Set("controllerManager", json::Value::Object({{"pid", static_cast<int64_t>(daemon.pid())},
                                                      {"log", daemon.log_file()}}));
  }
  if (SearchBeside* const search = session.search()) {
    out.Set("search", json::Value::Object({{"pid", static_cast<int64_t>(search->daemon().pid())},
                                           {"log", search->daemon().log_file()},
                                           {"url", search->url()}}));
  }
  return json::Write(out);
}

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
  if (session.daemon().exists()) {
    command(absl::StrCat(CommandFor("karmada-sandbox"),
                         " manager down   # the controller manager; and back again: manager up"));
  }
  absl::StrAppend(&out, "\nCtrl-C ends it.");
  return out;
}

void ServeUntil(const base::StopToken& stop, Session& session, std::ostream& out,
                const tool::Colours& colours) {
  Daemon& daemon = session.daemon();
  bool reported = false, reported_search = false;
  while (base::RealClock().SleepFor(kCheck, stop)) {
    SearchBeside* const search = session.search();
    if (search != nullptr && !reported_search && search->daemon().EndedByItself().has_value()) {
      out << colours.Red(absl::StrCat("karmada-search ", *search->daemon().EndedByItself(),
                                      "; see ", search->daemon().log_file()))
          << std::endl;
      reported_search = true;
    }
    const std::optional<std::string> ended = daemon.EndedByItself();
    if (ended.has_value() && !reported) {
      out << colours.Red(
                 absl::StrCat("karmada-controller-manager ", *ended, "; see ", daemon.log_file()))
          << "\nTo start it again:\n  " << CommandFor("karmada-sandbox") << " manager up --dir "
          << session.directory().path() << std::endl;
    }
    // `manager up` resets it, so that the next end is reported again.
    reported = ended.has_value();
  }
}

absl::Status RunUp(const SandboxOptions& options, const base::StopToken& stop) {
  tool::Console console = tool::StandardConsole();
  // With --output json, standard output gets the one object and nothing else.
  std::ostream& notices = options.json ? console.err : console.out;
  const tool::Colours& colours = options.json ? console.err_colours : console.out_colours;
  ASSIGN_OR_RETURN(const std::string program, FindControllerManager(options.controller_manager));
  const absl::Time start = absl::Now();
  ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, Session::Open(options));
  if (!program.empty()) RETURN_IF_ERROR(session->daemon().Start(program));
  if (options.search) RETURN_IF_ERROR(session->StartSearch());
  if (!session->earlier_run().empty()) notices << session->earlier_run() << std::endl;
  if (options.json) {
    console.out << AsJson(*session) << std::endl;
  } else {
    console.out << "A Karmada control plane and "
                << tool::Count(options.fleet.members, "member cluster") << " are up ("
                << tool::Seconds(absl::Now() - start) << ").\n\n"
                << Instructions(*session, colours) << std::endl;
  }
  ServeUntil(stop, *session, notices, colours);
  return absl::OkStatus();
}

}  // namespace cmd
