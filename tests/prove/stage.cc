#include "tests/prove/stage.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kube/meta/selector.h"
#include "sandbox/api_server.h"
#include "sandbox/cluster_identity.h"
#include "sandbox/karmada_definitions.h"
#include "sandbox/manifests.h"
#include "tests/prove/child.h"

namespace prove {
namespace {

// No run takes longer, in simulated time, between two quiet moments.
constexpr absl::Duration kLongest = absl::Hours(6);
// How late alarms may go off: by this share of the time in which nothing has changed.
constexpr int kSlackShare = 6;

bool IsHeartbeat(const sandbox::Event& event) {
  const absl::string_view kind = event.object->kind();
  return kind == "Event" || kind == "Lease";
}

// They are read once: each run has a fleet of its own, and their YAML is half a megabyte.
const absl::StatusOr<sandbox::KarmadaDefinitions>& Definitions() {
  static const auto& definitions = *[] {
    const auto directory = sandbox::FindManifests({"", "crds", "--crds"});
    return new absl::StatusOr<sandbox::KarmadaDefinitions>(
        directory.ok() ? sandbox::ReadKarmadaDefinitions(*directory, std::nullopt)
                       : directory.status());
  }();
  return definitions;
}

// Members have the definitions of exported and imported Services.
absl::Status DefineServices(sandbox::Fleet& fleet, sandbox::Backend& member) {
  const kube::Gvr definitions{"apiextensions.k8s.io", "v1", "customresourcedefinitions"};
  ASSIGN_OR_RETURN(const std::vector<kube::ObjectPtr> all,
                   fleet.control_plane().backend().List(definitions, "", kube::LabelSelector()));
  for (const kube::ObjectPtr& definition : all) {
    if (definition->Get({"spec", "group"}).AsString() != "multicluster.x-k8s.io") continue;
    kube::Object copy(*definition);
    for (const char* name : {"resourceVersion", "uid", "creationTimestamp", "generation"}) {
      copy.Erase({"metadata", name});
    }
    copy.Erase({"status"});
    RETURN_IF_ERROR(member.Create(definitions, std::move(copy)).status());
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Stage>> Stage::Start(StageOptions options, TimeDriver& time) {
  auto stage = std::unique_ptr<Stage>(new Stage(std::move(options), time));
  RETURN_IF_ERROR(stage->Open());
  return stage;
}

Stage::~Stage() {
  KillDaemon();
  if (beside_ != 0) EndProcess(beside_);
  hook_.reset();
  fleet_.reset();
}

absl::Status Stage::Open() {
  std::filesystem::create_directories(options_.directory);
  RETURN_IF_ERROR(Definitions().status());
  sandbox::FleetOptions fleet;
  fleet.definitions = &*Definitions();
  // An agent has a certificate.
  fleet.with_tls = options_.with_tls || !options_.beside.empty();
  fleet.pull_members = options_.beside.empty() ? 0 : 1;
  fleet.members = options_.members - fleet.pull_members;
  fleet.job_duration = absl::Hours(24);  // Jobs do not end.
  ASSIGN_OR_RETURN(fleet_, sandbox::Fleet::Start(fleet));
  for (const std::string& member : fleet_->member_names()) {
    RETURN_IF_ERROR(DefineServices(*fleet_, fleet_->member(member)->backend()));
  }
  RETURN_IF_ERROR(fleet_->WriteKubeconfigs(options_.directory));
  if (options_.hook) {
    ASSIGN_OR_RETURN(hook_, HookServer::Start(options_.hook));
  }
  Follow("host", fleet_->control_plane());
  for (const std::string& member : fleet_->member_names()) Follow(member, *fleet_->member(member));
  return options_.beside.empty() ? absl::OkStatus() : StartBeside();
}

absl::Status Stage::StartBeside() {
  const std::string path = options_.directory + "/agent.kubeconfig";
  ASSIGN_OR_RETURN(const std::string text, fleet_->AgentKubeconfig(fleet_->member_names().back()));
  RETURN_IF_ERROR(sandbox::WritePrivateFile(path, text));
  std::vector<std::string> words = options_.beside;
  words.push_back(absl::StrCat("--kubeconfig=", options_.directory, "/karmada.kubeconfig"));
  ASSIGN_OR_RETURN(beside_, Spawn(std::move(words), kBesideAddress, "manager.log"));
  return absl::OkStatus();
}

std::vector<std::string> Stage::FlagsOfServers() const {
  const std::string& directory = options_.directory;
  if (options_.beside.empty()) {
    return {absl::StrCat("--kubeconfig=", directory, "/karmada.kubeconfig")};
  }
  const std::string member = fleet_->member_names().back();
  return {absl::StrCat("--cluster-name=", member),
          absl::StrCat("--karmada-kubeconfig=", directory, "/agent.kubeconfig"),
          absl::StrCat("--kubeconfig=", directory, "/", member, ".kubeconfig")};
}

void Stage::Follow(const std::string& cluster, sandbox::ApiServer& server) {
  std::atomic<int64_t>& version = versions_[cluster];
  server.backend().Subscribe({}, [this, &version](const sandbox::Event& event) {
    version = std::max(version.load(), kube::ResourceVersionOf(*event.object));
    if (!IsHeartbeat(event)) ++changes_;
  });
}

absl::StatusOr<pid_t> Stage::StartProcess(const Launch& launch) {
  std::vector<std::string> words = options_.command;
  for (const auto& flags : {launch.flags, FlagsOfServers()}) {
    words.insert(words.end(), flags.begin(), flags.end());
  }
  return Spawn(std::move(words), launch.address, launch.log);
}

absl::StatusOr<pid_t> Stage::Spawn(std::vector<std::string> words, const std::string& address,
                                   const std::string& log_name) {
  return StartChild({.words = std::move(words),
                     .address = address,
                     .log = absl::StrCat(options_.directory, "/", log_name)},
                    time_);
}

int Stage::EndProcess(pid_t process) { return EndChild(process, time_); }

bool Stage::HasEnded(pid_t process) { return prove::HasEnded(process); }

absl::Status Stage::StartDaemon() {
  ASSIGN_OR_RETURN(daemon_, StartProcess({}));
  return absl::OkStatus();
}

void Stage::KillDaemon() {
  if (daemon_ != 0) EndProcess(daemon_);
  daemon_ = 0;
}

absl::Status Stage::Settle(absl::Duration quiet, absl::Duration least_slack) {
  int64_t seen = changes_;
  absl::Duration since = time_.Now();
  absl::Status looked;
  const bool settled = time_.RunFor(kLongest, [&] {
    if (look_ != nullptr) looked = look_();
    if (beside_ != 0 && HasEnded(beside_)) {
      looked.Update(absl::AbortedError("the controller manager beside the agent has ended"));
    }
    if (!looked.ok() || DaemonDied()) return true;
    const absl::Duration still = time_.Now() - since;
    time_.SetSlack(std::clamp(still / kSlackShare, least_slack,
                              std::max(least_slack, options_.longest_slack)));
    if (changes_ == seen) return still >= quiet;
    seen = changes_;
    since = time_.Now();
    return false;
  });
  RETURN_IF_ERROR(looked);
  if (DaemonDied()) return absl::AbortedError("the program has ended by itself");
  if (time_.busy_without_end()) return absl::InternalError("something works without end");
  return settled ? absl::OkStatus() : absl::DeadlineExceededError("it does not come to rest");
}

}  // namespace prove
