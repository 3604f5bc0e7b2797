// `status` is answered by the running sandbox, over its control socket, and printed by the process
// that asks. The parts of the answer are collected one after the other, so they are not of one
// moment. "answers" is tested by connecting to the port; the objects are read from the stores
// directly, so a member that refuses connections is still counted.

#include "cmd/sandbox/status.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "api/cluster.h"
#include "api/keys.h"
#include "api/programs.h"
#include "api/resources.h"
#include "base/status.h"
#include "cmd/sandbox/control_socket.h"
#include "cmd/sandbox/steering.h"
#include "kube/meta/object.h"
#include "kube/meta/selector.h"

namespace cmd {
namespace {

constexpr char kControlPlane[] = "karmada";

int64_t CountOf(sandbox::ApiServer& server, const kube::Gvr& resource) {
  const auto objects = server.backend().List(resource, "", kube::LabelSelector());
  return objects.ok() ? static_cast<int64_t>(objects->size()) : 0;
}

// "ended" means that the program ended by itself, "down" that it was stopped.
const char* StateOf(Daemon& daemon) {
  if (!daemon.exists()) return "none";
  if (daemon.pid() != 0) return "running";
  return daemon.EndedByItself().has_value() ? "ended" : "down";
}

json::Value ProgramStatus(Daemon& daemon) {
  return json::Value::Object({{"state", StateOf(daemon)},
                              {"pid", static_cast<int64_t>(daemon.pid())},
                              {"log", daemon.log_file()}});
}

json::Value MemberStatus(Session& session, const std::string& name) {
  sandbox::ApiServer& member = *session.fleet().member(name);
  const auto cluster =
      session.fleet().control_plane().backend().Get(api::Clusters().gvr(), {"", name});
  const bool pull =
      cluster.ok() ? api::ClusterView(**cluster).IsPull() : session.fleet().IsPull(name);
  json::Value status = json::Value::Object(
      {{"name", name},
       {"url", member.url()},
       {"kubeconfig", session.KubeconfigPath(name)},
       {"answers", Answers(member.port())},
       {"mode", pull ? "Pull" : "Push"},
       {"joined", cluster.ok()},
       {"ready", cluster.ok() ? api::ClusterView(**cluster).ReadyStatus() : ""}});
  status.Set("nodes", CountOf(member, {"", "v1", "nodes"}));
  status.Set("pods", CountOf(member, {"", "v1", "pods"}));
  if (Daemon* const agent = session.AgentOf(name)) status.Set("agent", ProgramStatus(*agent));
  return status;
}

// Returns who holds the lease of the controller manager; "" when nobody does.
std::string Leader(sandbox::Fleet& fleet) {
  const auto lease = fleet.control_plane().backend().Get(
      {"coordination.k8s.io", "v1", "leases"}, {api::kSystemNamespace, api::kControllerManager});
  return lease.ok() ? (*lease)->spec()["holderIdentity"].ToString() : "";
}

std::string AnswersText(const json::Value& server, const tool::Colours& colours) {
  return server["answers"].AsBool() ? "answers" : colours.Red("down");
}

std::string MemberLine(const json::Value& member, const tool::Colours& colours) {
  const absl::string_view ready = member["ready"].AsString();
  const std::string karmada = !member["joined"].AsBool() ? colours.Yellow("not joined")
                              : ready == "True"          ? "ready"
                              : ready.empty() ? colours.Yellow("joined, not looked at yet")
                                              : colours.Yellow("joined, not ready");
  return absl::StrFormat("  %-16s %s  %s, mode %s, %s, %d nodes, %d pods\n",
                         member["name"].AsString(), member["url"].AsString(),
                         AnswersText(member, colours), member["mode"].AsString(), karmada,
                         member["nodes"].AsInt(), member["pods"].AsInt());
}

std::string ProgramLine(absl::string_view name, const json::Value& program,
                        const tool::Colours& colours) {
  const absl::string_view state = program["state"].AsString();
  if (state == "none") return absl::StrFormat("  %-26s was not started\n", name);
  std::string text = absl::StrFormat("  %-26s ", name);
  if (state == "running") {
    absl::StrAppend(&text, "runs, pid ", program["pid"].AsInt());
  } else {
    absl::StrAppend(&text, colours.Red(state == "down" ? "is down" : "has ended by itself"));
  }
  return absl::StrCat(text, "; it logs to ", program["log"].AsString(), "\n");
}

}  // namespace

bool Answers(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool answers = connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  close(fd);
  return answers;
}

json::Value StatusOf(Session& session) {
  sandbox::Fleet& fleet = session.fleet();
  json::Value members = json::Value::Array();
  for (const std::string& name : fleet.member_names()) members.Append(MemberStatus(session, name));
  json::Value manager = ProgramStatus(session.daemon());
  manager.Set("leader", Leader(fleet));
  manager.Set("flags", absl::StrJoin(session.ManagerArguments(), " "));
  json::Value status = json::Value::Object(
      {{"directory", session.directory().path()},
       {"controlPlane", json::Value::Object({{"url", fleet.control_plane().url()},
                                             {"kubeconfig", session.KubeconfigPath(kControlPlane)},
                                             {"answers", Answers(fleet.control_plane().port())}})},
       {"members", std::move(members)},
       {"controllerManager", std::move(manager)}});
  if (SearchBeside* const beside = session.search(); beside != nullptr) {
    json::Value search = ProgramStatus(beside->daemon());
    search.Set("url", beside->url());
    status.Set("search", std::move(search));
  }
  return status;
}

std::string StatusText(const json::Value& status, const tool::Colours& colours) {
  std::string out = absl::StrCat("The sandbox in ", status["directory"].AsString(), ":\n");
  const json::Value& control_plane = status["controlPlane"];
  absl::StrAppendFormat(&out, "  %-16s %s  %s\n", kControlPlane, control_plane["url"].AsString(),
                        AnswersText(control_plane, colours));
  for (const json::Value& member : status["members"].items()) out += MemberLine(member, colours);
  const json::Value& manager = status["controllerManager"];
  out += ProgramLine(api::kControllerManager, manager, colours);
  const absl::string_view leader = manager["leader"].AsString();
  absl::StrAppend(&out, "    ", leader.empty() ? "nobody leads" : "leader: ", leader, "\n");
  if (manager["state"].AsString() != "none") {
    absl::StrAppend(&out, "    flags: ", manager["flags"].AsString(), "\n");
  }
  for (const json::Value& member : status["members"].items()) {
    if (member["agent"].is_null()) continue;
    out += ProgramLine(absl::StrCat(api::kAgent, " of ", member["name"].AsString()),
                       member["agent"], colours);
  }
  if (!status["search"].is_null()) out += ProgramLine("karmada-search", status["search"], colours);
  out.pop_back();
  return out;
}

absl::Status RunStatus(const SandboxOptions& options) {
  ASSIGN_OR_RETURN(const std::string directory, DirectoryOf(options));
  ASSIGN_OR_RETURN(const std::string answer, ControlSocket::Send(directory, "status"));
  tool::Console console = tool::StandardConsole();
  if (options.json) {
    console.out << answer << std::endl;
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const json::Value status, json::Parse(answer));
  console.out << StatusText(status, console.out_colours) << std::endl;
  return absl::OkStatus();
}

}  // namespace cmd
