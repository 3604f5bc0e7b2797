// Opens a sandbox in this order: the directory, the lock that keeps a second sandbox out of it, the
// clusters, what an earlier run has left, the kubeconfigs, what members need beside their API
// servers, the controller manager's launcher, and at last the control socket, whose requests may
// reach everything before it. The parts are destroyed in the reverse order.
//
// All objects are in memory: a sandbox that ends, however it ends, loses them and its credentials.
// The directory keeps kubeconfigs (which point nowhere then) and logs; one that was made for this
// run is removed, unless the process is killed.

#include "cmd/sandbox/session.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/programs.h"
#include "base/json.h"
#include "base/status.h"
#include "cmd/sandbox/customization_admission.h"
#include "cmd/sandbox/relays.h"
#include "cmd/sandbox/simulated_metrics.h"
#include "cmd/sandbox/status.h"
#include "cmd/sandbox/steering.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "sandbox/sim/webhook_rules.h"

namespace cmd {
namespace {

namespace fs = std::filesystem;

constexpr char kControlPlane[] = "karmada";  // The name of its kubeconfig.

// Returns $XDG_RUNTIME_DIR if it can be written, else $TMPDIR, else /tmp.
fs::path PlaceForTemporary() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  // It is private to the user and is emptied at logout, as credentials should be.
  if (runtime != nullptr && access(runtime, W_OK) == 0) return runtime;
  const char* temporary = std::getenv("TMPDIR");
  return temporary != nullptr && *temporary != '\0' ? temporary : "/tmp";
}

absl::StatusOr<std::string> MakeTemporary() {
  std::error_code error;  // The working directory may be gone.
  const fs::path parent = fs::absolute(PlaceForTemporary(), error);
  std::string path = (parent / "karmada-sandbox.XXXXXX").string();
  if (mkdtemp(path.data()) != nullptr) return path;
  return absl::ErrnoToStatus(errno, absl::StrCat("making a directory in ", parent.string(),
                                                 "; choose another place with --dir"));
}

}  // namespace

absl::StatusOr<PrivateDirectory> PrivateDirectory::Open(const std::string& path) {
  if (path.empty()) {
    ASSIGN_OR_RETURN(std::string made, MakeTemporary());
    return PrivateDirectory(std::move(made), /*temporary=*/true);
  }
  std::error_code error;
  const bool made = fs::create_directories(path, error);
  if (error) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot make the directory ", path, ": ", error.message()));
  }
  // The kubeconfigs have credentials of administrators. A directory that the user made keeps its
  // mode.
  if (made) chmod(path.c_str(), S_IRWXU);
  const fs::path absolute = fs::absolute(path, error);
  return PrivateDirectory(error ? path : absolute.lexically_normal().string(),
                          /*temporary=*/false);
}

PrivateDirectory::~PrivateDirectory() {
  if (!temporary_) return;
  std::error_code ignored;  // The system cleans up the directory's parent by itself.
  fs::remove_all(path_, ignored);
}

PrivateDirectory::PrivateDirectory(PrivateDirectory&& other) noexcept
    : path_(other.path_), temporary_(std::exchange(other.temporary_, false)) {}

absl::StatusOr<std::unique_ptr<Session>> Session::Open(const SandboxOptions& options) {
  ASSIGN_OR_RETURN(PrivateDirectory directory, PrivateDirectory::Open(options.directory));
  ASSIGN_OR_RETURN(DirectoryLock lock, DirectoryLock::Take(directory.path()));
  std::unique_ptr<Session> session(
      new Session(std::move(directory), std::move(lock), options.manager_flags));
  ASSIGN_OR_RETURN(session->fleet_, sandbox::Fleet::Start(options.fleet));
  const std::string& path = session->directory_.path();
  sandbox::Backend& karmada = session->fleet_->control_plane().backend();
  karmada.AddAdmission(CustomizationAdmission(karmada));
  karmada.AddAdmission(sandbox::WebhookRules());
  RETURN_IF_ERROR(session->SetEarlierRunAside());
  RETURN_IF_ERROR(session->fleet_->WriteKubeconfigs(path));
  RETURN_IF_ERROR(session->CompleteMembers());
  session->daemon_ = std::make_unique<Daemon>(session->ManagerArguments(), session->LogPath());
  ASSIGN_OR_RETURN(
      session->control_,
      ControlSocket::Listen(
          path, [raw = session.get()](const std::string& request) -> absl::StatusOr<std::string> {
            if (request == "status") return json::Write(StatusOf(*raw));
            return Steer(*raw, request);
          }));
  return session;
}

absl::Status Session::CompleteMembers() {
  std::vector<sandbox::ApiServer*> members;
  for (const std::string& name : fleet_->member_names()) {
    sandbox::ApiServer& member = *fleet_->member(name);
    members.push_back(&member);
    extras_.push_back(std::make_unique<sandbox::MemberExtras>(member.backend(), loop_));
    ASSIGN_OR_RETURN(const kube::ConnectionConfig connection,
                     kube::LoadConnectionConfig({KubeconfigPath(name), ""}));
    tokens_.push_back(std::make_unique<TokenSecrets>(member, loop_, connection.ca_pem));
    RETURN_IF_ERROR(ServeMetrics(member));
  }
  ServeMetricsOfMembers(fleet_->control_plane(), std::move(members));
  return ServeClusterProxies(*fleet_, directory_.path());
}

absl::Status Session::StartAgents() {
  const std::vector<std::string> members = fleet_->member_names();
  const bool any = std::any_of(members.begin(), members.end(),
                               [this](const auto& name) { return fleet_->IsPull(name); });
  if (!any) return absl::OkStatus();
  ASSIGN_OR_RETURN(auto agents, AgentsBeside::Start(*fleet_, directory_.path()));
  absl::MutexLock lock(&beside_mu_);
  agents_ = std::move(agents);
  return absl::OkStatus();
}

Daemon* Session::AgentOf(absl::string_view member) const {
  absl::MutexLock lock(&beside_mu_);
  return agents_ == nullptr ? nullptr : agents_->Of(member);
}

absl::Status Session::StartSearch() {
  ASSIGN_OR_RETURN(auto search, SearchBeside::Start(*fleet_, directory_.path()));
  absl::MutexLock lock(&beside_mu_);
  // Only the assignment is locked: starting takes seconds, and `status` must be answered meanwhile.
  search_ = std::move(search);
  return absl::OkStatus();
}

absl::Status Session::SetEarlierRunAside() {
  if (access(KubeconfigPath(kControlPlane).c_str(), F_OK) != 0) return absl::OkStatus();
  earlier_run_ = absl::StrCat("An earlier sandbox ran in ", directory_.path(),
                              ": this one starts empty, with new credentials");
  const std::string log = LogPath();
  const std::string kept = log + ".1";
  if (rename(log.c_str(), kept.c_str()) == 0) {
    absl::StrAppend(&earlier_run_, "; the log of its controller manager is now ", kept);
  } else if (errno != ENOENT) {
    return absl::ErrnoToStatus(errno, absl::StrCat("renaming ", log, " to ", kept));
  }
  earlier_run_ += ".";
  return absl::OkStatus();
}

std::string Session::LogPath() const {
  return absl::StrCat(directory_.path(), "/", api::kControllerManager, ".log");
}

std::string Session::KubeconfigPath(const std::string& cluster) const {
  return absl::StrCat(directory_.path(), "/", cluster, ".kubeconfig");
}

// Both servers are off by default: their ports may be taken by another controller manager. Flags of
// the user follow, and take precedence.
std::vector<std::string> Session::ManagerArguments() const {
  std::vector<std::string> arguments = {"--kubeconfig", KubeconfigPath(kControlPlane),
                                        "--metrics-bind-address=0",
                                        "--health-probe-bind-address=0"};
  arguments.insert(arguments.end(), manager_flags_.begin(), manager_flags_.end());
  return arguments;
}

absl::StatusOr<std::string> FindControllerManager(const std::string& wanted) {
  if (wanted == "off") return std::string();
  const bool beside = wanted == "auto";
  const std::string path =
      beside ? absl::StrCat(ProgramDirectory(), "/", api::kControllerManager) : wanted;
  if (access(path.c_str(), X_OK) == 0) return path;
  if (beside) return std::string();
  return absl::NotFoundError(absl::StrCat("the controller manager ", path, " cannot be run"));
}

std::string ProgramDirectory() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? "" : program.parent_path().string();
}

std::string CommandFor(const std::string& name) {
  const fs::path beside = fs::path(ProgramDirectory()) / name;
  const char* path = std::getenv("PATH");
  for (const absl::string_view directory :
       absl::StrSplit(path == nullptr ? "" : path, ':', absl::SkipEmpty())) {
    const fs::path candidate = fs::path(std::string(directory)) / name;
    if (access(candidate.c_str(), X_OK) != 0) continue;
    std::error_code error;  // A shell runs the first match.
    return fs::equivalent(candidate, beside, error) ? name : beside.string();
  }
  return beside.string();
}

}  // namespace cmd
