// Runs in two processes: RunSteering sends the user's words to the sandbox that runs in a
// directory, and Steer, in that sandbox, carries them out and answers with a sentence on what
// happens next, and when. Those times follow from defaults of flags and from the lease, and are no
// promises. A member that is down refuses connections through an injected fault, and keeps its
// objects; a controller manager or an agent that is down is a process that was ended, and loses
// what is in its memory only.

#include "cmd/sandbox/steering.h"

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "api/cluster.h"
#include "api/keys.h"
#include "api/programs.h"
#include "api/resources.h"
#include "base/spelling.h"
#include "base/status.h"
#include "cmd/sandbox/control_socket.h"
#include "cmd/sandbox/status.h"
#include "config/command_line.h"
#include "kube/meta/object.h"
#include "tool/console.h"

namespace cmd {
namespace {

constexpr char kDown[] = "down";
constexpr char kUp[] = "up";
constexpr char kJoin[] = "join";

// A contender leads when it has seen the lease unchanged for its duration. What is added is the
// time of its start, at most.
constexpr int64_t kStartSeconds = 5;

absl::Status NoSuchMember(sandbox::Fleet& fleet, const std::string& name) {
  const std::vector<std::string> names = fleet.member_names();
  const std::string meant = base::DidYouMean(name, names);
  return absl::NotFoundError(absl::StrCat(
      "there is no member \"", name, "\"",
      meant.empty() ? absl::StrCat(": there are ", absl::StrJoin(names, ", ")) : meant));
}

// --cluster-failure-threshold and --cluster-success-threshold are 30 s by default, and a member is
// probed every 10 s.
constexpr char kThreshold[] = "30 to 45 seconds";

std::string AfterDown(const std::string& name) {
  return absl::StrCat(name, " refuses every connection now. Karmada counts it as not ready after ",
                      kThreshold, " without an answer; kubectl get clusters shows it.");
}

absl::StatusOr<std::string> AfterUp(sandbox::Fleet& fleet, const std::string& name, bool was_down) {
  const std::string answers =
      absl::StrCat(name, was_down ? " answers again." : " answers already.");
  const absl::StatusOr<kube::ObjectPtr> cluster =
      fleet.control_plane().backend().Get(api::Clusters().gvr(), {"", name});
  if (absl::IsNotFound(cluster.status())) {
    return absl::StrCat(answers, " It is not joined to Karmada; karmada-sandbox member join ", name,
                        " lets it join.");
  }
  RETURN_IF_ERROR(cluster.status());
  if (!was_down) return answers;
  if (api::ClusterView(**cluster).IsReady()) {
    return absl::StrCat(answers, " Karmada has not counted it as not ready meanwhile, ",
                        "and goes on at once.");
  }
  return absl::StrCat(answers, " Karmada counts it as ready after ", kThreshold,
                      " of good answers, and then brings it up to date.");
}

absl::StatusOr<std::string> JoinAgain(Session& session, const std::string& name) {
  RETURN_IF_ERROR(session.fleet().JoinAgain(name));
  if (Daemon* const agent = session.AgentOf(name); agent != nullptr) {
    RETURN_IF_ERROR(agent->Down());
    RETURN_IF_ERROR(agent->Up());
    return absl::StrCat("The karmada-agent of ", name,
                        " was started again, and registers its cluster.");
  }
  return absl::StrCat(name,
                      " has joined again, with new credentials. Karmada counts it as ready at ",
                      "its first good answer; kubectl get clusters shows it.");
}

// Returns the result of a request that was carried out. Its error has no code that stands for a
// mistake of the user (config::ExitCodeFor).
absl::StatusOr<std::string> CarriedOut(absl::StatusOr<std::string> result) {
  if (config::ExitCodeFor(result.status()) != config::kUsageExitCode) return result;
  return absl::InternalError(result.status().message());
}

absl::StatusOr<std::string> SteerMember(Session& session, const std::string& action,
                                        const std::string& name) {
  sandbox::Fleet& fleet = session.fleet();
  sandbox::ApiServer* member = fleet.member(name);
  if (member == nullptr) return NoSuchMember(fleet, name);
  if (action == kJoin) return CarriedOut(JoinAgain(session, name));
  // The same action twice is not an error; the answer says that nothing was to be done.
  const bool was_down = !Answers(member->port());
  if (action == kDown && was_down) return absl::StrCat(name, " is down already.");
  member->faults().SetPartitioned(action == kDown);
  if (action == kDown) return AfterDown(name);
  return CarriedOut(AfterUp(fleet, name, was_down));
}

// --cluster-monitor-grace-period is 40 s by default.
std::string AfterAgentDown(const std::string& name) {
  return absl::StrCat("The karmada-agent of ", name, " is down. Karmada counts the cluster as ",
                      "unknown when its Lease is 40 seconds old. What runs in the member runs on; ",
                      "what you change meanwhile reaches it when the agent is up again.");
}

absl::StatusOr<std::string> SteerAgent(Session& session, bool down, const std::string& name) {
  if (session.fleet().member(name) == nullptr) return NoSuchMember(session.fleet(), name);
  Daemon* const agent = session.AgentOf(name);
  if (agent == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, " is in push mode, and has no agent: up --pull-members starts some"));
  }
  const std::string whose = absl::StrCat("The karmada-agent of ", name);
  if ((agent->pid() == 0) == down) {
    return absl::StrCat(whose, down ? " is down already." : " runs already.");
  }
  const absl::Status done = down ? agent->Down() : agent->Up();
  if (!done.ok()) return CarriedOut(done);
  if (down) return AfterAgentDown(name);
  return absl::StrCat(whose, " runs again, and brings its cluster up to date at once.");
}

// Returns a sentence about when a program that is started now becomes the leader, given when the
// one before it has ended.
std::string Leads(sandbox::Fleet& fleet, absl::Time ended) {
  const auto lease = fleet.control_plane().backend().Get(
      {"coordination.k8s.io", "v1", "leases"}, {api::kSystemNamespace, api::kControllerManager});
  const std::string holder = lease.ok() ? (*lease)->spec()["holderIdentity"].ToString() : "";
  // The lease was released, or never taken.
  if (holder.empty()) return "It leads at once.";
  const auto renewed = kube::ParseTime((*lease)->spec()["renewTime"].AsString());
  const int64_t seconds = (*lease)->spec()["leaseDurationSeconds"].AsInt();
  // One that was started by hand may have died since.
  const bool has_run_out = renewed.ok() && *renewed + absl::Seconds(seconds) < absl::Now();
  if (renewed.ok() && *renewed > ended && !has_run_out) {
    return absl::StrCat("It stands by: another one leads (", holder,
                        "), and has renewed its lease since this one was stopped.");
  }
  return absl::StrCat("It leads in ", seconds, " to ", seconds + kStartSeconds,
                      " seconds: first the lease of the one before has to run out, which a stop "
                      "does not release.");
}

absl::StatusOr<std::string> SteerManager(sandbox::Fleet& fleet, Daemon& daemon, bool down) {
  if (down) {
    if (daemon.exists() && daemon.pid() == 0) {
      return std::string("karmada-controller-manager is down already.");
    }
    RETURN_IF_ERROR(daemon.Down());
    return std::string(
        "karmada-controller-manager is down. The API servers and the simulated controllers of the "
        "clusters go on; what you change meanwhile reaches the members when it is up again.");
  }
  if (daemon.pid() != 0) return std::string("karmada-controller-manager runs already.");
  // Determined before the program starts, which may take the lease at once.
  const std::string leads = Leads(fleet, daemon.ended_at());
  RETURN_IF_ERROR(daemon.Up());
  return absl::StrCat("karmada-controller-manager runs again. ", leads);
}

}  // namespace

absl::StatusOr<std::string> Steer(Session& session, const std::string& request) {
  const std::vector<std::string> words = absl::StrSplit(request, ' ');
  const bool known = words.size() > 1 && (words[1] == kDown || words[1] == kUp);
  if (words.size() == 3 && words[0] == "member" && (known || words[1] == kJoin)) {
    return SteerMember(session, words[1], words[2]);
  }
  if (known && words.size() == 3 && words[0] == "agent") {
    return SteerAgent(session, words[1] == kDown, words[2]);
  }
  if (known && words.size() == 2 && words[0] == "manager") {
    return CarriedOut(SteerManager(session.fleet(), session.daemon(), words[1] == kDown));
  }
  return absl::InvalidArgumentError(absl::StrCat("cannot do \"", request, "\""));
}

absl::StatusOr<std::string> DirectoryOf(const SandboxOptions& options) {
  if (!options.directory.empty()) return options.directory;
  // It may name several files with colons between them, as kubectl takes them.
  const char* files = std::getenv("KUBECONFIG");
  for (const absl::string_view file :
       absl::StrSplit(files == nullptr ? "" : files, ':', absl::SkipEmpty())) {
    return std::filesystem::absolute(std::string(file)).parent_path().string();
  }
  return absl::InvalidArgumentError(
      "which sandbox? Give its directory with --dir, or set KUBECONFIG to a file in it");
}

absl::Status RunSteering(const SandboxOptions& options) {
  ASSIGN_OR_RETURN(const std::string directory, DirectoryOf(options));
  using Command = SandboxOptions::Command;
  const char* const part = options.command == Command::kMember  ? "member"
                           : options.command == Command::kAgent ? "agent"
                                                                : "manager";
  const std::string request =
      absl::StrCat(part, " ", options.action, options.member.empty() ? "" : " ", options.member);
  ASSIGN_OR_RETURN(const std::string answer, ControlSocket::Send(directory, request));
  tool::StandardConsole().out << answer << std::endl;
  return absl::OkStatus();
}

}  // namespace cmd
